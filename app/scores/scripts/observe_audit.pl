# PROGRAM...: perform what audit rules watch for, start the programs, and print for each action whether the audit's log
# has an event of it. The numbers are those of x86_64. Nothing is printed of what is not there to be done, and nothing
# at all if the log does not show that it is complete.
use strict;
use warnings;

my ($here, $append, $created) = (-100, 02001, 02101);
my ($log) = map { /^\s*log_file\s*=\s*(\S+)/ ? $1 : () } read_lines('/etc/audit/auditd.conf');
$log ||= '/var/log/audit/audit.log';
my ($begins, $ends) = map { "deed-$_-$$" } qw(begins ends);
my @evidence;
chomp(my $folder = `mktemp -d /run/deed.XXXXXX`);
END { chdir '/'; system 'rm', '-rf', '--', $folder if $folder }
chdir $folder and chmod 0711, $folder and tell_audit($begins) or exit;

my ($file, $other, $third, $attribute, $value) = qw(file other third user.deed 1);
create($file);
open my $handle, '+<', $file or exit;
my $number = fileno $handle;
call(chmod => 90, $file, 0600);
call(fchmod => 91, $number, 0600);
call(fchmodat => 268, $here, $file, 0600);
call(chown => 92, $file, 0, 0);
call(fchown => 93, $number, 0, 0);
call(lchown => 94, $file, 0, 0);
call(fchownat => 260, $here, $file, 0, 0, 0);
call(setxattr => 188, $file, $attribute, $value, 1, 0);
call(lsetxattr => 189, $file, $attribute, $value, 1, 0);
call(fsetxattr => 190, $number, $attribute, $value, 1, 0);
call(removexattr => 197, $file, $attribute);
call(lremovexattr => 198, $file, $attribute);
call(fremovexattr => 199, $number, $attribute);
call(mount => 165, 0, 0, 0, 0, 0);
call(umount2 => 166, $other, 0);
call(rename => 82, $file, $other);
call(renameat => 264, $here, $other, $here, $third);
call(unlink => 87, $third);
create($other);
call(unlinkat => 263, $here, $other, 0);
mkdir $other;
call(rmdir => 84, $other);
call(delete_module => 176, $file, 0);
call(init_module => 175, 0, 0, $value);
call(finit_module => 313, -1, $value, 0);
my $clock = "\0" x 512;
call(adjtimex => 159, $clock);
call(settimeofday => 164, 0, 0);
call(clock_settime => 227, 0, 0);
call(sethostname => 170, 0, -1);
call(setdomainname => 171, 0, -1);

# What an account without rights is denied. Enlarging a sealed file is permitted to nobody.
create($file);
chmod 0600, $file;
call_denied(creat => 85, $file, 0600);
call_denied(open => 2, $file, 0);
call_denied(openat => 257, $here, $file, 0);
call_denied(truncate => 76, $file, 0);
my $sealed = syscall 319, $file, 2;
syscall 72, $sealed, 1033, 6;
call_denied(ftruncate => 77, $sealed, 9);

# Opening a file to write at its end changes nothing in it. A file in a folder, or one that is not there yet, is removed.
open_to_write($_, $append) for qw(/etc/passwd /etc/group /etc/shadow /etc/gshadow /etc/opasswd /etc/security/opasswd
    /etc/sudoers /etc/hosts /etc/issue /etc/issue.net /var/run/utmp /var/log/wtmp /var/log/btmp /var/log/lastlog);
for my $path (qw(/etc/sudoers.d/.deed /var/log/faillock/.deed /var/log/sudo.log)) {
    my $there = -e $path;
    open_to_write($path, $created);
    remove($path) unless $there;
}
# /etc/localtime is a link: another one to the same file is made, and removed.
my ($time, $copy) = qw(/etc/localtime /etc/.deed);
syscall 86, $time, $copy;
remove($copy);
note("write $time", qr/ syscall=86 .* name="$time"/s);
start($_) for @ARGV;

my %events;
for my $line (read_whole_log()) {
    $events{$1} .= $line if $line =~ /msg=audit\(([\d.]+:\d+)\)/;
}
# An event without a key comes from SELinux or AppArmor, and not from a rule.
my @told = grep { / key=(?!\(null\))/ } values %events;
for (@evidence) {
    my ($name, $pattern) = @$_;
    printf "audited %s\t%s\n", $name, (grep { $_ =~ $pattern } @told) ? 'yes' : 'no';
}

sub note { push @evidence, [@_] }

sub call {
    my ($name, $number, @arguments) = @_;
    syscall $number, @arguments;
    note($name, qr/ syscall=$number .*comm="perl"/);
}

sub call_denied {
    my ($name, $number, @arguments) = @_;
    my $child = fork;
    if (defined $child && !$child) {
        $) = '65534 65534';
        $> = 65534;
        syscall $number, @arguments;
        kill 'KILL', $$;
    }
    waitpid $child, 0;
    note("denied $name", qr/ syscall=$number success=no exit=-(1|13) .*comm="perl"/);
}

sub open_to_write {
    my ($path, $how) = @_;
    my $opened = syscall 2, $path, $how, 0600;
    return if $opened < 0;
    syscall 3, $opened;
    note("write $path", qr/ syscall=2 .*comm="perl".* name="\Q$path\E"/s);
}

# The program only has to begin: it is asked for help, and ended if it waits.
sub start {
    my ($program) = @_;
    return unless grep { -x "$_/$program" } split /:/, $ENV{PATH};
    my $child = fork;
    if (defined $child && !$child) {
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', '/dev/null';
        alarm 5;
        exec $program, '--help' or kill 'KILL', $$;
    }
    waitpid $child, 0;
    my $short = substr $program, 0, 15;
    note("start $program", qr/ syscall=59 success=yes .*comm="\Q$short\E"/);
}

sub create {
    open my $new, '>', $_[0];
    close $new;
}

# By another program, so that this does not count as one of the calls above.
sub remove { system 'rm', '-f', '--', $_[0] }

sub read_lines {
    open my $lines, '<', $_[0] or return ();
    return <$lines>;
}

sub tell_audit { return system("auditctl -m $_[0] >/dev/null 2>&1") == 0 }

# Return the log's lines since the beginning, once it has those of the end.
sub read_whole_log {
    tell_audit($ends) or exit;
    for (1 .. 60) {
        my $begun = 0;
        my @lines = grep { $begun ||= /$begins/ } map { read_lines($_) } "$log.1", $log;
        return @lines if grep { /$ends/ } @lines;
        select undef, undef, undef, 0.5;
    }
    exit;
}
