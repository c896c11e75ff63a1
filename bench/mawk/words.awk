# Splitting, counting words, substitution. words.awk -v scale=N
BEGIN {
  for (round = 0; round < 12 * scale; round++) {
    for (line = 0; line < 2500; line++) {
      text = "w" (line * 7 % 313) " key=" line % 19 " " substr("abcdefghijk", line % 7 + 1)
      n = split(text, word, /[ =]/)
      for (i = 1; i <= n; i++)
        count[word[i]]++
      if (text ~ /w1[0-9]* key=1?[02468] [c-f]/)
        found++
      gsub(/[aeiou]/, "<&>", text)
      total += length(text) + index(text, "key")
    }
  }
  for (w in count)
    sum += count[w]
  print found, total, sum
}
