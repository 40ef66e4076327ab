import { PunctualError } from '../errors.ts'
import { LABEL_VALUE, NAME } from '../limits.ts'

/** Labels that a worker has and a run may require: `{ region: 'eu', gpu: 'a100' }`. */
export type Labels = Readonly<Record<string, string>>

/** The labels as lanes and offers store them: one text each, sorted, so that their order has no meaning. */
export function labelTexts(labels: Labels | undefined): string[] {
  if (labels === undefined) return []
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
}

/** Adds a label from the command line: `gpu=a100`, or `gpu` for `gpu=true`. Workers and runs use the same syntax. */
export function readLabel(text: string, before: Labels = {}): Record<string, string> {
  const at = text.indexOf('=')
  const name = at < 0 ? text : text.slice(0, at)
  const value = at < 0 ? 'true' : text.slice(at + 1)
  const known = Object.hasOwn(before, name) ? before[name] : undefined
  const shown = JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
  if (!NAME.test(name) || !LABEL_VALUE.test(value)) throw wrongLabel(`${shown} is not a label`)
  if (known !== undefined && known !== value) {
    throw wrongLabel(`the label ${name} is both ${known} and ${value}`)
  }
  return { ...before, [name]: value }
}

function wrongLabel(what: string): PunctualError {
  const hint = 'Write name=value, such as gpu=a100, or only the name, which means name=true.'
  return new PunctualError('invalid_field', `--label: ${what}`, { field: '--label', hint })
}

/** The label that represents users in lanes and offers. Workers cannot set it as a label of their own. */
export const USER_LABEL = 'run-as'

/** Prefix of required features; no label name can begin with it. */
const FEATURE = '+'

/** All requirements of a run, or all capabilities that a worker offers. */
export interface Placement {
  readonly labels: Labels
  /** Users of the worker's host that a command may run as. */
  readonly users: readonly string[]
  /** Capabilities beyond the first version of the protocol. */
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

/** The inverse of `placementTexts`. */
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
