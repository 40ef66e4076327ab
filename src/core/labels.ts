/** What a worker carries and a run may ask for: `{ region: 'eu', gpu: 'a100' }`. */
export type Labels = Readonly<Record<string, string>>

/** As lanes and offers hold them: one text each, sorted, so that order of writing means nothing. */
export function labelTexts(labels: Labels | undefined): string[] {
  if (labels === undefined) return []
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
}

/** The label by which users are asked for and offered. Workers cannot carry it as one of their own. */
export const USER_LABEL = 'run-as'

/** Everything a run asks of its worker, or a worker offers: labels and users. */
export function placementTexts(labels: Labels | undefined, users: readonly string[]): string[] {
  if (users.length === 0) return labelTexts(labels)
  return [...labelTexts(labels), ...users.map((user) => `${USER_LABEL}=${user}`)].sort()
}

/** The same, taken apart again. */
export function readPlacement(texts: readonly string[]): { labels: Labels; users: string[] } {
  const pairs = texts.map((text) => {
    const at = text.indexOf('=')
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
  return {
    labels: Object.fromEntries(pairs.filter(([name]) => name !== USER_LABEL)),
    users: pairs.flatMap(([name, value]) => (name === USER_LABEL ? [value] : [])),
  }
}
