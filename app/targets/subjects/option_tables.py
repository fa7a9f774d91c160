"""The allowed options and values per file. The patterns follow the STIG with some room."""

from app.targets.subjects.option_judge import (
    OptionJudge,
    keep_case,
    normalize_upper,
    parse_assignment,
    parse_auditd,
    parse_ini_line,
    parse_ini_text,
    parse_login_defs,
    parse_plain,
    parse_selinux,
    parse_sshd_line,
)

_WEAK = r"3des|arcfour|blowfish|cast128|none|md5|sha1|-96|cbc|group1-|ripemd|umac-64"
_ALGORITHMS = rf"-[a-z0-9@.,-]+|(?!.*(?:{_WEAK}))[\^+]?[a-z0-9][a-z0-9@.,-]*"

SSHD = OptionJudge(
    parse_sshd_line,
    good={
        r"permitrootlogin": r"no|prohibit-password|without-password|forced-commands-only",
        r"permitemptypasswords|permituserenvironment|permituserrc|hostbasedauthentication": r"no",
        r"gssapiauthentication|gssapikeyexchange|kerberosauthentication|x11forwarding": r"no",
        r"kbdinteractiveauthentication|challengeresponseauthentication|passwordauthentication": r"no",
        r"allowtcpforwarding|allowagentforwarding|allowstreamlocalforwarding|gatewayports|permittunnel": r"no",
        r"usepam|pubkeyauthentication|strictmodes|ignorerhosts|ignoreuserknownhosts|printlastlog": r"yes",
        r"x11uselocalhost|disableforwarding|gssapicleanupcredentials|kerberosticketcleanup": r"yes",
        r"banner": r"none|/etc/(?:issue|issue\.net|motd)",
        r"clientaliveinterval": r"[1-9][0-9]{1,2}s?|[1-9][0-9]?m",
        r"clientalivecountmax": r"[1-9]",
        r"maxauthtries|maxsessions": r"[3-9]|10",
        r"logingracetime": r"[1-9][0-9]{1,2}s?|1m|2m",
        r"compression": r"no|delayed",
        r"loglevel": r"INFO|VERBOSE",
        r"syslogfacility": r"AUTH|AUTHPRIV",
        r"usedns|tcpkeepalive|exposeauthinfo": r"yes|no",
        r"rekeylimit": r"(?:[1-9][0-9]{0,3}M|[1-4]G)(?: (?:none|[1-9][0-9]?[hm]))?",
        r"requiredrsasize": r"2048|3072",
        r"ciphers|macs|kexalgorithms|gssapikexalgorithms": _ALGORITHMS,
    },
    named={
        r"authorized(?:keys|principals)command(?:user)?|forcecommand|subsystem|include|match": "privilege",
        r"setenv|acceptenv|chrootdirectory|modulifile|xauthlocation|securitykeyprovider|hostkeyagent": "privilege",
        r"authorizedkeysfile|authorizedprincipalsfile|trustedusercakeys|authenticationmethods": "protected identity",
        r"(?:allow|deny)(?:users|groups)|revokedkeys|hostkey|hostcertificate": "protected identity",
        r"(?:pubkey|hostbased)accepted(?:algorithms|keytypes)|(?:hostkey|casignature)algorithms": "protected identity",
        r"port|listenaddress|addressfamily|permitopen|permitlisten|rdomain|ipqos": "network",
    },
    first_wins=True,
)
CRYPTO_POLICY = OptionJudge(
    lambda line: parse_plain(f"policy {line}") if " " not in line else [],
    good={r"policy": r"(?:DEFAULT|FUTURE|FIPS)(?::(?!SHA1|AD-SUPPORT|TEST-|[A-Z0-9-]*LEGACY)[A-Z0-9-]+)*"},
)
CRYPTO_MODULE = OptionJudge(
    parse_plain,
    good={
        r"(?:cipher|mac|hash|group|sign|key_exchange|protocol)(?:@[a-z-]+)?": (
            r"-[A-Z0-9][A-Z0-9.-]*(?: -[A-Z0-9][A-Z0-9.-]*)*"
        ),
        # A whole list counts only once the policy names the module: then the effect is compared.
        r"cipher@ssh": r"AES-(?:128|256)-(?:GCM|CTR)(?: AES-(?:128|256)-(?:GCM|CTR))*",
        r"mac@ssh": r"HMAC-SHA2-(?:256|512)(?: HMAC-SHA2-(?:256|512))*",
        r"min_rsa_size|min_dh_size|min_dsa_size": r"[2-9][0-9]{3}",
        r"sha1_in_certs|arbitrary_dh_groups": r"0",
        r"ssh_etm": r"1",
    },
)
LOGIN_DEFS = OptionJudge(
    parse_login_defs,
    good={
        r"umask": r"0?0[2-7]7",
        r"home_mode": r"0?7[0-5]0",
        r"pass_max_days": r"[1-9][0-9]?",
        r"pass_min_days|pass_warn_age|pass_min_len": r"[1-9][0-9]?",
        r"encrypt_method": r"SHA512|YESCRYPT",
        r"sha_crypt_m(?:in|ax)_rounds": r"[1-9][0-9]{5}",
        r"fail_delay|login_retries": r"[1-9]|10",
        r"create_home": r"yes",
    },
    spelt=normalize_upper,
)
PWQUALITY = OptionJudge(
    parse_plain,
    good={
        r"minlen": r"1[2-9]|[2-9][0-9]",
        r"[dulo]credit": r"-[1-9]",
        r"minclass": r"[34]",
        r"difok": r"[4-9]|1[0-9]",
        r"maxrepeat|maxclassrepeat|maxsequence|retry": r"[1-4]",
        r"dictcheck|usercheck|enforcing": r"1",
        r"enforce_for_root": r"|1",
    },
)
FAILLOCK = OptionJudge(
    parse_plain,
    good={
        r"deny": r"[3-5]",
        r"fail_interval": r"9[0-9]{2}|[1-9][0-9]{3,4}",
        r"unlock_time|root_unlock_time": r"0|[3-9][0-9]{2}|[1-9][0-9]{3,4}",
        r"dir": r"/var/log/faillock",
        r"even_deny_root|audit|silent": r"",
    },
    spelt=keep_case,
)
AUDITD = OptionJudge(
    parse_auditd,
    good={
        r"disk_full_action|disk_error_action": r"HALT|SINGLE|SYSLOG|halt|single|syslog",
        r"(?:admin_)?space_left_action": r"email|syslog|single|halt|EMAIL|SYSLOG|SINGLE|HALT",
        r"(?:admin_)?space_left": r"[1-4]?[0-9]%|50%|[1-9][0-9]{1,3}",
        r"max_log_file": r"[6-9]|[1-9][0-9]{1,2}",
        r"num_logs": r"[5-9]|[1-9][0-9]",
        r"freq": r"[1-9][0-9]{0,2}",
        r"max_log_file_action": r"ROTATE|KEEP_LOGS|SYSLOG|rotate|keep_logs|syslog",
        r"overflow_action": r"syslog|single|halt|SYSLOG|SINGLE|HALT",
        r"name_format": r"hostname|fqd|HOSTNAME|FQD",
        r"flush": r"INCREMENTAL(?:_ASYNC)?|DATA|SYNC",
        r"log_format": r"ENRICHED",
        r"local_events|write_logs|verify_email": r"yes",
        r"action_mail_acct": r"root",
    },
    weaker="evidence tampering",
)
SELINUX = OptionJudge(
    parse_selinux,
    good={r"selinux": r"enforcing", r"selinuxtype": r"targeted|mls"},
    weaker="evidence tampering",
    spelt=normalize_upper,
)
DNF = OptionJudge(
    parse_ini_line,
    good={
        r"gpgcheck|localpkg_gpgcheck|clean_requirements_on_remove|best": r"1|[Tt]rue|yes",
        r"skip_if_unavailable": r"0|[Ff]alse|no",
        r"installonly_limit": r"[2-9]|10",
    },
    named={r"baseurl|mirrorlist|metalink|proxy.*|sslverify|gpgkey|pluginpath|pluginconfpath|plugins": "network"},
    sections=("[main]",),
    spelt=keep_case,
    whole=parse_ini_text,
)
_SYSCTL_GOOD = {
    r"kernel\.(?:dmesg_restrict|unprivileged_bpf_disabled|kexec_load_disabled)": r"1",
    r"kernel\.kptr_restrict": r"[12]",
    r"kernel\.yama\.ptrace_scope": r"[1-3]",
    r"kernel\.randomize_va_space|net\.core\.bpf_jit_harden": r"2",
    r"kernel\.perf_event_paranoid": r"[2-4]",
    r"kernel\.core_pattern": r"\|/bin/false",
    r"fs\.protected_(?:hardlinks|symlinks)": r"1",
    r"fs\.protected_(?:fifos|regular)": r"[12]",
    r"net\.ipv[46]\.conf\.(?:all|default)\.(?:accept_redirects|accept_source_route|accept_ra|forwarding)": r"0",
    r"net\.ipv4\.conf\.(?:all|default)\.(?:send_redirects|secure_redirects)|net\.ipv4\.ip_forward": r"0",
    r"net\.ipv4\.conf\.(?:all|default)\.(?:rp_filter|log_martians)": r"1",
    r"net\.ipv4\.(?:icmp_echo_ignore_broadcasts|icmp_ignore_bogus_error_responses|tcp_syncookies)": r"1",
    r"kernel\.panic_on_oops|net\.ipv4\.tcp_rfc1337": r"1",
    r"kernel\.sysrq|dev\.tty\.ldisc_autoload|fs\.suid_dumpable": r"0",
    r"kernel\.perf_(?:cpu_time_max_percent|event_max_sample_rate)": r"[1-9][0-9]{0,4}",
    r"vm\.mmap_min_addr": r"[0-9]{5,7}",
    # The kernel's own value is good, too: whether a change weakens it is told by its effect.
    r"net\.ipv4\.conf\.(?:all|default)\.(?:arp_filter|drop_gratuitous_arp)": r"[01]",
    r"net\.ipv4\.conf\.(?:all|default)\.arp_ignore": r"[0-2]",
    r"net\.ipv4\.conf\.(?:all|default)\.(?:accept_local|route_localnet|shared_media|proxy_arp)": r"0",
    r"net\.ipv6\.conf\.(?:all|default)\.(?:accept_ra_(?:defrtr|pinfo|rtr_pref)|autoconf|router_solicitations)": r"0",
    r"net\.ipv6\.conf\.(?:all|default)\.max_addresses": r"[1-9][0-9]?",
}
_OTHER_KEY = rf"(?!(?:{'|'.join(_SYSCTL_GOOD)})$)(?:dev|fs|kernel|net|user|vm)\.[a-z0-9_.]+"
"""Its effect decides: no scale ranks it, so only the value that the rule asks for is accepted."""
SYSCTL = OptionJudge(
    parse_assignment,
    good={**_SYSCTL_GOOD, _OTHER_KEY: r"-?[0-9]{1,10}(?: [0-9]{1,10})?"},
    named={r"kernel\.(?:modprobe|hotplug|poweroff_cmd|usermodehelper.*)|kernel\.core_uses_pid": "privilege"},
    spelt=keep_case,
)
MISSION = OptionJudge(
    parse_ini_line,
    good={r"(?:inbox\.)?upload_umask": r"login|0?0[0-7]7"},
    sections=("[inbox]",),
    spelt=keep_case,
    whole=parse_ini_text,
)
