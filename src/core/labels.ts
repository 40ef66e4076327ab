/** What a worker carries and a run may ask for: `{ region: 'eu', gpu: 'a100' }`. */
export type Labels = Readonly<Record<string, string>>

/** As lanes and offers hold them: one text each, sorted, so that order of writing means nothing. */
export function labelTexts(labels: Labels | undefined): string[] {
  if (labels === undefined) return []
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
}
