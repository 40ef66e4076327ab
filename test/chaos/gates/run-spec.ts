import type { Submission } from '../../../src/client/index.ts'
import type { Seeded } from '../../sim/seeded.ts'
import { SHORT_TIMES } from '../short-times.ts'

/** What one run of the load is to do, and its concurrency keys. */
export interface RunSpec {
  readonly keys: readonly string[]
  readonly lastMs: number
  /** How much longer its first attempt takes. */
  readonly slowFirstMs: number
  /** Attempts up to this one fail. */
  readonly failFirst: number
}

/** Where the processes of runs write their traces. */
export interface TracePaths {
  /** Every process appends single lines: the order of the lines is the order of events. */
  readonly truthPath: string
  readonly locksDir: string
}

/** Share of runs that need two keys at once, and get both or none. */
const PAIRED = 0.05
const SHAKY = 0.15
/** Share of runs that last long enough to get a stop signal. */
const LONG = 0.2
/** Longer than a lease, and longer than a restarted server waits for its workers. */
const SLOW_MS = SHORT_TIMES.leaseTtlMs + SHORT_TIMES.restartGraceMs
const RETRY = { max: 3, backoff: 'fixed', delayMs: 60, jitter: 0 } as const

export function drawRunSpec(seeded: Seeded, keys: readonly string[]): RunSpec {
  const first = seeded.pick(keys)
  const second = seeded.chance(PAIRED) ? seeded.pick(keys) : first
  return {
    keys: first === second ? [first] : [first, second],
    lastMs: seeded.chance(LONG) ? seeded.between(200, 600) : seeded.between(2, 40),
    slowFirstMs: 0,
    failFirst: seeded.chance(SHAKY) ? seeded.between(1, 2) : 0,
  }
}

/**
 * Does not end before its lease does. If its worker dies, the product must end the process that still holds the
 * key.
 */
export function slowRun(key: string): RunSpec {
  return { ...quickRun(key), slowFirstMs: SLOW_MS }
}

/** A short run with one key. */
export function quickRun(key: string): RunSpec {
  return { keys: [key], lastMs: 1, slowFirstMs: 0, failFirst: 0 }
}

/**
 * The process holds a file lock per key while anything of it lives: the kernel releases a lock only when the
 * last process that holds it has exited. A process that begins and does not get its locks has therefore found a
 * living predecessor, even a sleeping one. On a stop signal it takes some time to end.
 */
const JOB = `
  report() { echo "$1 $PUNCTUAL_RUN_ID $PUNCTUAL_ATTEMPT $PUNCTUAL_FENCE $KEYS" >> "$TRUTH"; }
  first="\${KEYS%% *}" last="\${KEYS##* }"
  exec 8>> "$LOCKS/$first" 9>> "$LOCKS/$last"
  if flock -n 8 && { [ "$first" = "$last" ] || flock -n 9; }; then report begin; else report clash; fi
  trap 'report signalled; sleep 0.05; report stopped; exit 1' TERM
  [ "$PUNCTUAL_ATTEMPT" != 1 ] || sleep "$LINGER"
  sleep "$LAST"
  report end
  [ "$PUNCTUAL_ATTEMPT" -gt "$FAIL_FIRST" ]`

export function submissionOf(runSpec: RunSpec, key: string, traces: TracePaths): Submission {
  const { keys, lastMs, slowFirstMs, failFirst } = runSpec
  return {
    job: 'gated',
    idempotencyKey: key,
    concurrency: keys.map((name) => ({ key: name, limit: 1 })),
    retry: RETRY,
    work: {
      executor: 'shell',
      run: JOB,
      shell: '/bin/sh',
      env: {
        TRUTH: traces.truthPath,
        LOCKS: traces.locksDir,
        KEYS: keys.join(' '),
        LAST: String(lastMs / 1_000),
        LINGER: String(slowFirstMs / 1_000),
        FAIL_FIRST: String(failFirst),
      },
    },
  }
}
