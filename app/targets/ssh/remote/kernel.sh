# kernel KEY...: print a row `fixed` if this host may not change the settings of the kernel that it runs on, and the
# value of each of these.
[ -w /proc/sys/kernel/printk ] || printf 'fixed\tkernel\t\n'
for key; do
  at=/proc/sys/$(printf %s "$key" | tr . /)
  [ ! -r "$at" ] || printf 'sysctl\t%s\t%s\n' "$key" "$(tr '\t\n' '  ' <"$at")"
done
