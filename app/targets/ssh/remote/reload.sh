# reload SERVICE...: 8 where it failed, 7 where nothing shows that the last of them read its files.
claimed
for one; do reload_one "$one" || exit; done
