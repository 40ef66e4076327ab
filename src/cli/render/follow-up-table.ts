import type { WireFollowUp, WireJob } from '../../core/job/job-views.ts'
import type { Show } from '../terminal/output.ts'
import { instantIn } from './show-time.ts'
import { harmless, showState, type Terminal } from '../terminal/terminal.ts'
import { describeTriggers } from './describe-triggers.ts'

/** A table of the completions that trigger a job, and what became of each. */
export function followUpTable(
  terminal: Terminal,
  { name, definition }: WireJob,
): Show<WireFollowUp> {
  return {
    nameOf: ({ run, after }) => run ?? after,
    empty: `${name} runs ${describeTriggers(definition).join(', and ')}. That has not happened yet.`,
    columns: [
      { title: 'TIME', show: ({ at }) => instantIn(at, terminal.zone, terminal.now()) },
      { title: 'AFTER', show: ({ after }) => after },
      { title: 'JOB', show: ({ job }) => job, shrinks: true },
      { title: 'ENDED', show: ({ state }) => showState(terminal, state) },
      { title: 'RUN', show: ({ run }) => run ?? '-' },
      { title: 'WHY NOT', show: ({ reason }) => harmless(reason ?? '-'), shrinks: true },
    ],
  }
}
