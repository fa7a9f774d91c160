# kernel: print a row `fixed` if this host may not change the settings of the kernel that it runs on.
[ -w /proc/sys/kernel/printk ] || printf 'fixed\tkernel\t\n'
