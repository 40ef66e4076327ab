/** A flag that may be repeated: all that was said, in order. */
export function repeated(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text]
}
