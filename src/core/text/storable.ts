/** A text as every store takes it: without NUL, which PostgreSQL refuses, and without half characters. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}
