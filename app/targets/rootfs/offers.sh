chroot "$1" sh -eu -c '
mkdir -p /srv/offers/partial
cd /srv/offers
apt-get -q -y install --download-only -o Dir::Cache::archives=/srv/offers -o APT::Sandbox::User=root {}
for deb in *.deb; do
  dpkg-deb -f "$deb"
  printf "Filename: ./%s\\nSize: %s\\nSHA256: %s\\n\\n" "$deb" "$(stat -c %s "$deb")" \
    "$(sha256sum "$deb" | cut -d " " -f 1)"
done >Packages
rm -rf partial lock
echo "deb [trusted=yes] file:/srv/offers ./" >/etc/apt/sources.list.d/offers.list
'
