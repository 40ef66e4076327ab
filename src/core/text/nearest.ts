/** The known name a mistyped one most likely meant, if any is close enough to be worth naming. */
export function nearestName(typed: string, known: readonly string[]): string | undefined {
  const sought = fold(typed)
  let nearest: string | undefined
  let least = Math.max(2, Math.floor(sought.length / 3)) + 1
  // A long name is nobody's slip of the finger, and comparing it would only cost time.
  if (sought.length > 40) return undefined
  for (const name of known) {
    const candidate = fold(name)
    const away = sought.startsWith(candidate) ? 1 : editDistance(sought, candidate)
    // What shares no letter with it was not meant.
    if (away < least && away < sought.length) {
      least = away
      nearest = name
    }
  }
  return nearest
}

/** `runAt`, `run-at` and `run_at` are the same word. */
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
