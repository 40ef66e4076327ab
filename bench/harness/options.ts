import { parseArgs } from 'node:util'

export interface BenchOptions {
  readonly scenarios: readonly string[]
  readonly rounds: number
  /** About how long one variant of one round should take; scenarios size their work by it. */
  readonly seconds: number
  /** A smoke run: every step runs, but the figures are meaningless. */
  readonly quick: boolean
  /** Only variants whose name contains this; ratios to a variant left out stay empty. */
  readonly only: string | undefined
  /** How long each measurement may wait until other processes leave the machine idle. */
  readonly patienceMs: number
  /** Writes a CPU profile of every process to `results/profiles`. Slows everything down. */
  readonly profile: boolean
  /** The commit that `against` compares the working tree with. */
  readonly commit: string
  readonly list: boolean
}

const USAGE = `usage: npm run bench -- [scenario…] [--rounds N] [--seconds N] [--quick] [--only TEXT] [--patience SECONDS] [--profile] [--commit NAME] [--list]`

export function readBenchOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      patience: { type: 'string' },
      profile: { type: 'boolean', default: false },
      commit: { type: 'string', default: 'HEAD' },
      list: { type: 'boolean', default: false },
    },
  })
  const { quick } = values
  return {
    scenarios: positionals,
    rounds: readCount('rounds', values.rounds, quick ? 2 : 5),
    seconds: readCount('seconds', values.seconds, quick ? 1 : 8),
    quick,
    only: values.only,
    patienceMs: quick ? 0 : 1000 * readCount('patience', values.patience, 20),
    profile: values.profile,
    commit: values.commit,
    list: values.list,
  }
}

function readCount(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Error(`--${name} must be a whole number above 0, not "${text}"\n${USAGE}`)
}
