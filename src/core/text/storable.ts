/** A text that every store accepts: without NUL, which PostgreSQL rejects, and without lone surrogates. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}
