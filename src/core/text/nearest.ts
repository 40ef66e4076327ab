/** The known name that is most similar to a mistyped one, if it is similar enough to suggest. */
export function nearestName(typed: string, known: readonly string[]): string | undefined {
  const wanted = fold(typed)
  let nearest: string | undefined
  let closest = Math.max(2, Math.floor(wanted.length / 3)) + 1
  // A long name is rarely a typing error, and comparing it would be slow.
  if (wanted.length > 40) return undefined
  for (const name of known) {
    const candidate = fold(name)
    const distance = wanted.startsWith(candidate) ? 1 : editDistance(wanted, candidate)
    // A name that shares no letter with it is not a suggestion.
    if (distance < closest && distance < wanted.length) {
      closest = distance
      nearest = name
    }
  }
  return nearest
}

/** `runAt`, `run-at` and `run_at` count as the same word. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}
