/** Collects the values of a repeatable flag in order. */
export function repeated(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text]
}
