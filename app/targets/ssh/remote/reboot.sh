# reboot: shut down and boot again.
booted_anew
