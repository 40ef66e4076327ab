/**
 * The tags of a run as pairs. The store accepts any text for tags; text that is not an object has
 * no pairs.
 */
export function tagPairs(tags: string | null): [name: string, value: string][] {
  if (tags === null) return []
  try {
    const value = JSON.parse(tags) as unknown
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
    return Object.entries(value).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string',
    )
  } catch {
    return []
  }
}
