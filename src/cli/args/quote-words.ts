const PLAIN = /^[\w@%+=:,./-]+$/

/** Quotes words for a POSIX shell, so that a printed command can be copied. */
export function quoteWords(words: readonly string[]): string {
  return words
    .map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ')
}
