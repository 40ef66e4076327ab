import { DEFAULT_MISSED, type MissedPolicy } from './missed.ts'
import { DEFAULT_OVERLAP, type Overlap } from './overlap.ts'

/** A schedule as it is stored: everything but its name and what becomes of it. `Source` is how its rule is written. */
export interface ScheduleSpec<Source = unknown> {
  readonly rule: Source
  readonly overlap: Overlap
  readonly missed: MissedPolicy
  /** What its runs get; absent: nothing. */
  readonly input?: unknown
  /** Of its runs, when it is not that of the job. */
  readonly priority?: number | undefined
}

type Given<Source> = Pick<ScheduleSpec<Source>, 'rule' | 'input' | 'priority'> & {
  readonly overlap?: Overlap | undefined
  readonly missed?: Partial<MissedPolicy> | undefined
}

/** Everything is written down, defaults too: a later version of the program must not change a schedule. */
export function encodeSpec<Source>({
  rule,
  overlap,
  missed,
  input,
  priority,
}: Given<Source>): string {
  const spec: ScheduleSpec<Source> = {
    rule,
    overlap: overlap ?? DEFAULT_OVERLAP,
    missed: { ...DEFAULT_MISSED, ...missed },
    ...(input === undefined ? {} : { input }),
    ...(priority === undefined ? {} : { priority }),
  }
  return JSON.stringify(spec)
}

export function decodeSpec<Source>(stored: string): ScheduleSpec<Source> {
  return JSON.parse(stored) as ScheduleSpec<Source>
}
