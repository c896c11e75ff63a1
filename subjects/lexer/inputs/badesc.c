"\q" "\" "ok" "\xg" "a\z b"
