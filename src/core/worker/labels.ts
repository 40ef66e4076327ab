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

/** Stands before what a worker must understand; no name of a label can begin with it. */
const FEATURE = '+'

/** Everything a run asks of its worker, or a worker offers. */
export interface Placement {
  readonly labels: Labels
  /** Users of its machine that a command may run as. */
  readonly users: readonly string[]
  /** What it understands beyond the first version of the protocol. */
  readonly features: readonly string[]
}

export function placementTexts({ labels, users = [], features = [] }: PlacementInput): string[] {
  if (users.length === 0 && features.length === 0) return labelTexts(labels)
  const asked = [
    ...users.map((user) => `${USER_LABEL}=${user}`),
    ...features.map((feature) => FEATURE + feature),
  ]
  return [...labelTexts(labels), ...asked].sort()
}

type PlacementInput = { readonly [Part in keyof Placement]?: Placement[Part] | undefined }

/** The same, taken apart again. */
export function readPlacement(texts: readonly string[]): Placement {
  const isFeature = (text: string) => text.startsWith(FEATURE)
  const pairs = texts
    .filter((text) => !isFeature(text))
    .map((text) => {
      const at = text.indexOf('=')
      return [text.slice(0, at), text.slice(at + 1)] as const
    })
  return {
    labels: Object.fromEntries(pairs.filter(([name]) => name !== USER_LABEL)),
    users: pairs.flatMap(([name, value]) => (name === USER_LABEL ? [value] : [])),
    features: texts.filter(isFeature).map((text) => text.slice(FEATURE.length)),
  }
}
