"""Patterns of known secrets, one per program or format, all of linear cost."""

import re

GONE = "[secret]"


_M, _I = re.MULTILINE, re.IGNORECASE
_LINE = r"(?:^[-+ ]?[ \t]{0,40}|(?<=['\"`]))"
"""The start of a line, also in a diff, or of a quotation."""
_SAID = r"(?:^[-+ ]?[ \t]{0,40}|(?<=['\"`])|(?<=[:;,] ))"
"""The same, or after a prefix such as `line 3: …`."""
_END = r"(?=[ \t;,]{0,8}(?:['\"`…]|$))"
_QUOTED = r"(?:\"[^\"\n]{0,256}(?:\"|$)|'[^'\n]{0,256}(?:'|$)|[^\s'\"`]{1,512})"
_NO_CONTROL = r"(?!(?:required|requisite|sufficient|optional|include|substack|files|compat)\b|[ \t\[])"
"""Not a PAM control: PAM files use the word password for a kind of rule."""
_NO_SENTENCE = r"(?![a-z]{1,32}[.,:](?:\s|$))"
"""Not the last word of a sentence that was broken into lines."""

_BLOCK = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,8}-{4,5}"
    r".*?(?:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,8}-{4,5}|\Z)",
    re.DOTALL,
)
_AGE = re.compile(r"AGE-SECRET-KEY-[A-Z0-9]{1,80}")
_CRYPT = re.compile(
    r"\$(?:[1567y]|2[abxy]?|gy|md5|apr1|sha1|argon2\w{0,4}|scrypt|pbkdf2[\w-]{0,16}|bcrypt[\w-]{0,16})\$[^\s:;,'\"]+"
)
_LDAP_HASH = re.compile(r"\{(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT|ARGON2|PBKDF2[\w-]{0,16})\}[^\s'\"]+", _I)
_GRUB = re.compile(r"grub\.pbkdf2\.sha[0-9]{1,4}\.[^\s'\"]+")
_MYSQL_HASH = re.compile(r"(?<![\w*])\*[0-9A-F]{40}(?!\w)")
_SHADOW = re.compile(rf"{_SAID}([\w.-]{{1,64}}:!{{0,9}})[^:\s*!]{{2,512}}(?=(?::[0-9]{{0,9}}){{6}}:)", _M)
_DES = re.compile(
    rf"(?:{_SAID}|(?<=[\w-]:))([\w.@-]{{1,64}}:)(?=[./0-9]{{0,12}}[a-z])(?=[./0-9a-z]{{0,12}}[A-Z])[./0-9A-Za-z]{{13}}"
    rf"(?:{_END}|(?=(?::[0-9]{{1,10}}){{2}}:))",
    _M,
)
_PGPASS = re.compile(
    rf"{_SAID}(?![0-9A-Fa-f]{{2}}(?::[0-9A-Fa-f]{{2}}){{3}})"
    r"((?![-+]?/etc/g?passwd)[^\s:#'\"]{1,255}:(?:[0-9]{1,5}|\*):(?![0-9]{1,9}:)[^\s:]{1,64}:[^\s:]{1,64}:)[^\s:'\"][^\n'\"]*",
    _M,
)
_CHAP = re.compile(
    rf"{_SAID}([^\s#]{{1,64}}[ \t]{{1,40}}(?:\*|x?l2tpd|pptpd|sstpd|ppp)[ \t]{{1,40}})(?!\*){_QUOTED}"
    rf"(?=[ \t]{{1,40}}(?:\*|[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}})|[ \t]{{0,40}}(?:['\"`]|$))",
    _M,
)
_CHAP_ANY = re.compile(
    rf"{_SAID}([^\s#*]{{1,64}}[ \t]{{1,40}}[^\s*]{{1,64}}[ \t]{{1,40}})(?!\*){_QUOTED}(?=[ \t]{{1,40}}\*{_END})", _M
)
_NETRC = re.compile(r"(\blogin\s{1,40}\S{1,128}\s{1,40}(?:account\s{1,40}\S{1,128}\s{1,40})?password\s{1,40})\S+")
_NETRC_ALONE = re.compile(r"((?:\bmachine\s{1,40}\S{1,255}|^[-+ ]?[ \t]{0,40}default)\s{1,40}password\s{1,40})\S+", _M)
_TWO_WORDS = re.compile(
    rf"{_LINE}((?:password[ \t]{{1,40}}{_NO_CONTROL}(?:\w{{1,32}}[ \t]{{1,40}})?"
    rf"|(?:passwd|passphrase|secret|token|psk|login_password)[ \t]{{1,40}})){_NO_CONTROL}{_NO_SENTENCE}{_QUOTED}{_END}",
    _M,
)
_COMMUNITY = re.compile(
    rf"(\bcommunity(?:[-_]?string)?[\"']?(?:[ \t]{{1,9}}|[ \t]{{0,9}}[:=][ \t]{{0,9}})(?=\S{{0,64}}[0-9@#$%^&*+~!])"
    rf"(?![0-9]{{1,9}}:[0-9])){_QUOTED}",
    _I,
)
_COMMUNITY_ALONE = re.compile(
    rf"((?:\bsnmp[\w-]{{0,20}}[ \t]{{1,9}}|{_LINE})community[ \t]{{1,40}})(?!public\b|private\b|strings?\b)"
    rf"{_NO_SENTENCE}{_QUOTED}(?={_END}|[ \t]{{1,9}}(?:[rR][oOwW]\b|authorization\b|clients?\b|\{{))",
    _M,
)
_WORD_AND_SECRET = re.compile(
    r"\b((?:(?:root)?bindpw|binddnpw|rootpw|r[ow]community6?|trapcommunity|snmp-server[ \t]{1,9}community"
    rf"|def(?:Auth|Priv)?Passphrase)[ \t]{{1,40}}(?:--?\w{{1,16}}[ \t]{{1,40}})?){_QUOTED}",
    _I,
)
_SNMP_USER = re.compile(r"\b((?:createUser|usmUser)[ \t]{1,40})\S[^\n]*", _I)
_SNMP_V2 = re.compile(
    r"\b(com2sec6?[ \t]{1,40}(?:-Cn[ \t]{1,40}\S{1,64}[ \t]{1,40})?\S{1,64}[ \t]{1,40}\S{1,128}[ \t]{1,40})"
    rf"{_QUOTED}"
)
_SNMP_SINK = re.compile(rf"\b((?:trap2?sink|informsink)[ \t]{{1,40}}\S{{1,128}}[ \t]{{1,40}}){_QUOTED}")
_IPSEC = re.compile(
    r"\b((?:PSK|XAUTH|EAP|NTLM|PIN)[ \t]{1,40}|secret[ \t]{1,40})(?:\"[^\"\n]{1,256}\"?|0[sx]\S{1,512})"
)
_CHRONY = re.compile(rf"{_SAID}([0-9]{{1,10}}[ \t]{{1,40}}(?:MD5|SHA[0-9]{{1,3}}|AES[0-9]{{1,3}})[ \t]{{1,40}})\S+", _M)
_TAG = re.compile(r"(<(\w{0,40}(?:pass(?:word|wd|phrase)|secret|token|apikey))>)[^<\n]+", _I)
_DOCKER = re.compile(r"(\"auth\"[ \t]{0,9}:\s{0,40}\")[^\"\n]+")
_HEADER = re.compile(
    r"((?:Proxy-)?Authorization[\"']?[ \t]{0,9}[:=][ \t]{0,9}[\"']?"
    r"(?:(?:Basic|Bearer|Digest|Token|Negotiate|NTLM|ApiKey)[ \t]{1,9})?)[^\s'\"][^\n'\"]*",
    _I,
)
_COOKIE = re.compile(r"\b((?:Set-)?Cookie2?:[ \t]{0,9})[^\s'\"][^\n'\"]*", _I)
_ADDRESS = re.compile(r"(?<=://)([^/\s:@]{0,200}):[^/\s]{1,400}(?=@)")
_FLAG = re.compile(
    r"(?<![\w-])(--?(?!no-)(?:pass(?:word|wd|phrase)?|(?:[a-z]{2,12}-?){1,3}(?:password|passphrase|token|secret)"
    r"|token|secret|(?:api|account|access|secret|shared|storage|master)-?key)"
    rf"(?:[ \t]{{1,9}}|=))(?!-){_NO_CONTROL}{_QUOTED}",
    _I,
)
_FLAG_AUDITED = re.compile(
    r"(\"--?(?:\w{1,20}-)?(?:pass(?:word|wd|phrase)?|token|secret|api-?key)\"[ ]a[0-9]{1,3}=)\S+", _I
)
_SSHPASS = re.compile(r"\b(sshpass[ \t]{1,9}-p[ \t]{0,9})\S+")
_USER_FLAG = re.compile(r"(?<![\w-])(-u[ \t]{1,9}[\"']?[^\s:'\"]{1,64}:)[^\s'\"]+")
_SCRAM = re.compile(r"SCRAM-SHA-(?:1|256)\$[0-9]{1,8}:\S+")
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:eyJ[\w-]{8,}\.[\w.-]*|gh[pousr]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|xox[a-z]-[\w-]{8,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{8,}|AIza[\w-]{16,}|sk-(?!ssh-|ecdsa-)[\w-]{16,}|sk_(?:live|test)_\w{8,}|hf_\w{16,}|npm_\w{16,}"
    r"|hv[sbr]\.[\w-]{8,}|SG\.[\w.-]{16,}|dop_v1_\w{16,}|pypi-[\w-]{16,}|temper_[\w-]{16,})"
)

_ALONE = (_BLOCK, _AGE, _CRYPT, _LDAP_HASH, _GRUB, _MYSQL_HASH, _TOKENS, _SCRAM)
_BEHIND = (
    _SHADOW, _DES, _PGPASS, _CHAP, _CHAP_ANY, _NETRC, _NETRC_ALONE, _TWO_WORDS, _COMMUNITY, _COMMUNITY_ALONE,
    _WORD_AND_SECRET, _SNMP_USER, _SNMP_V2, _SNMP_SINK, _IPSEC, _CHRONY, _TAG, _DOCKER, _HEADER, _COOKIE, _FLAG,
    _FLAG_AUDITED, _SSHPASS, _USER_FLAG,
)  # fmt: skip

WHOLE: tuple[tuple[re.Pattern[str], str], ...] = tuple((form, GONE) for form in _ALONE)
"""Patterns that match the secret alone."""
BEHIND: tuple[tuple[re.Pattern[str], str], ...] = (
    *((form, rf"\1{GONE}") for form in _BEHIND),
    (_ADDRESS, rf"\1:{GONE}"),
)
"""Patterns that match a prefix, which stays, and the secret."""
