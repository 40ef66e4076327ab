import type { Submission } from '../../../src/client/index.ts'
import type { Seeded } from '../../sim/seeded.ts'
import { SHORT_TIMES } from '../short-times.ts'

/** What one run of the crowd is to do, and under which keys. */
export interface Errand {
  readonly keys: readonly string[]
  readonly lastMs: number
  /** How much longer its first attempt takes. */
  readonly lingerMs: number
  /** Attempts up to this one fail. */
  readonly failFirst: number
}

/** Where the processes of errands leave their traces. */
export interface Traces {
  /** Appended to by all of them, a line at a time: the order of its lines is the order of events. */
  readonly truthPath: string
  readonly locksDir: string
}

/** How often a run needs two keys at once, and takes both or none. */
const PAIRED = 0.05
const SHAKY = 0.15
/** Long enough to be told to stop. */
const LONG = 0.2
/** Longer than a lease, and than a server that starts again waits for workers to come back. */
const LINGER_MS = SHORT_TIMES.leaseTtlMs + SHORT_TIMES.restartGraceMs
const RETRY = { max: 3, backoff: 'fixed', delayMs: 60, jitter: 0 } as const

export function drawErrand(seeded: Seeded, keys: readonly string[]): Errand {
  const first = seeded.pick(keys)
  const second = seeded.chance(PAIRED) ? seeded.pick(keys) : first
  return {
    keys: first === second ? [first] : [first, second],
    lastMs: seeded.chance(LONG) ? seeded.between(200, 600) : seeded.between(2, 40),
    lingerMs: 0,
    failFirst: seeded.chance(SHAKY) ? seeded.between(1, 2) : 0,
  }
}

/**
 * Does not end by itself before its lease does, if its worker is gone: whether it lives on, and holds
 * its key, is then up to those who have promised to end it.
 */
export function lingerer(key: string): Errand {
  return { ...newcomer(key), lingerMs: LINGER_MS }
}

/** A single thing with one key, and nothing to it. */
export function newcomer(key: string): Errand {
  return { keys: [key], lastMs: 1, lingerMs: 0, failFirst: 0 }
}

/**
 * Holds the lock of each of its keys for as long as anything of it lives: the kernel lets go of a lock
 * when the last process that has it is gone, and not before. So whoever begins and does not get its
 * locks has seen that another one is still there, even if that one only sleeps and says nothing.
 * Who is told to stop takes its time, and is seen to.
 */
const JOB = `
  say() { echo "$1 $PUNCTUAL_RUN_ID $PUNCTUAL_ATTEMPT $PUNCTUAL_FENCE $KEYS" >> "$TRUTH"; }
  first="\${KEYS%% *}" last="\${KEYS##* }"
  exec 8>> "$LOCKS/$first" 9>> "$LOCKS/$last"
  if flock -n 8 && { [ "$first" = "$last" ] || flock -n 9; }; then say begin; else say clash; fi
  trap 'say told; sleep 0.05; say stopped; exit 1' TERM
  [ "$PUNCTUAL_ATTEMPT" != 1 ] || sleep "$LINGER"
  sleep "$LAST"
  say end
  [ "$PUNCTUAL_ATTEMPT" -gt "$FAIL_FIRST" ]`

export function submissionOf(errand: Errand, key: string, traces: Traces): Submission {
  const { keys, lastMs, lingerMs, failFirst } = errand
  return {
    job: 'errand',
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
        LINGER: String(lingerMs / 1_000),
        FAIL_FIRST: String(failFirst),
      },
    },
  }
}
