# reload SERVICE...: exit 8 if a reload fails, 7 if nothing proves that the last service read its files.
claimed
for one; do reload_one "$one" || exit; done
