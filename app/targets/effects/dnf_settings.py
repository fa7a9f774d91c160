"""dnf: signature checks and related settings, for all repositories and for each one."""

from collections.abc import Mapping

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files
from app.syntax.setting import Setting
from app.targets.effects.daemon_base import Daemon
from app.targets.effects.strictness_comparison import Compare, Strength, create_ranked_comparison

MAIN, REPOS = "/etc/dnf/dnf.conf", "/etc/yum.repos.d/*.repo"
_ON, _OFF = ("1", "yes", "true", "on"), ("0", "no", "false", "off")
_DEFAULTS: Mapping[str, str] = {
    **dict.fromkeys(("gpgcheck", "localpkg_gpgcheck", "repo_gpgcheck", "best", "skip_if_unavailable"), "0"),
    **dict.fromkeys(("sslverify", "clean_requirements_on_remove"), "1"),
}
_OF_REPOSITORIES = ("gpgcheck", "repo_gpgcheck", "sslverify", "skip_if_unavailable")
_STRICT, _LAX = create_ranked_comparison("0", "1"), create_ranked_comparison("1", "0")
_SCALES: Mapping[str, Compare] = {**dict.fromkeys(_DEFAULTS, _STRICT), "skip_if_unavailable": _LAX}


class Dnf(Daemon):
    """Not asked: dnf prints its configuration only with its repositories.

    Of a repository that several files define, dnf uses the first and ignores the others.
    """

    name = "dnf"
    areas = (MAIN, "/etc/yum.repos.d/")
    scales = _SCALES

    def read_settings(self, files: Files) -> Mapping[str, str]:
        stated = key_value_config_parsers.parse_ini(host_text.read_text(files, MAIN) or "", MAIN)
        found = {**{f"main.{key}": value for key, value in _DEFAULTS.items()}, **_collect_values(stated)}
        for path in host_text.glob_paths_like_shell(files, REPOS):
            own = key_value_config_parsers.parse_ini(host_text.read_text(files, path) or "", path)
            new = {_get_section(setting) for setting in own} - {key.rpartition(".")[0] for key in found}
            found |= {f"{name}.{key}": found[f"main.{key}"] for key in _OF_REPOSITORIES for name in new}
            found |= _collect_values([setting for setting in own if _get_section(setting) in new])
        return found

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        return super().compare_values(key.rpartition(".")[2], was, now)


def _get_section(setting: Setting) -> str:
    return setting.key.rpartition(".")[0]


def _collect_values(settings: list[Setting]) -> dict[str, str]:
    return {
        setting.key: _normalize_flag(setting.value) if setting.key.rpartition(".")[2] in _DEFAULTS else setting.value
        for setting in settings
    }


def _normalize_flag(value: str) -> str:
    word = host_text.fold_case(value)
    return "1" if word in _ON else "0" if word in _OFF else value
