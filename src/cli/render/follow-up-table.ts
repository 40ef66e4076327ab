import type { WireFollowUp, WireJob } from '../../core/wire/views.ts'
import type { Show } from '../terminal/output.ts'
import { instantIn } from './show-time.ts'
import { harmless, showState, type Terminal } from '../terminal/terminal.ts'
import { whatStarts } from './describe-triggers.ts'

/** The ends a job was to run after, under titles, and what came of each. */
export function followUpTable(
  terminal: Terminal,
  { name, definition }: WireJob,
): Show<WireFollowUp> {
  return {
    nameOf: ({ run, after }) => run ?? after,
    empty: `${name} runs ${whatStarts(definition).join(', and ')}. That has not happened yet.`,
    columns: [
      { title: 'TIME', show: ({ at }) => instantIn(at, terminal.zone, terminal.now()) },
      { title: 'AFTER', show: ({ after }) => after },
      { title: 'JOB', show: ({ job }) => job, gives: true },
      { title: 'ENDED', show: ({ state }) => showState(terminal, state) },
      { title: 'RUN', show: ({ run }) => run ?? '-' },
      { title: 'WHY NOT', show: ({ reason }) => harmless(reason ?? '-'), gives: true },
    ],
  }
}
