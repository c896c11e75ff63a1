'' 'ab' '\q' '\x' 'a
'\
'ok'
