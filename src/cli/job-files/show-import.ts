import type { CrontabLine, ImportedJob } from '../../core/schedule/crontab/index.ts'
import { hangingIndent } from '../terminal/hanging-indent.ts'
import type { Format } from '../terminal/output.ts'
import type { StoreOutcome } from './store-job.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

/** The outcome of one line of the crontab. */
export type LineOutcome =
  | Exclude<CrontabLine, { kind: 'entry' }>
  | ({
      readonly kind: 'job'
      readonly cron: string
      readonly zone: string
      readonly words: string
    } & ImportedJob &
      StoreOutcome)

const OUTCOMES = {
  planned: 'would become',
  made: 'is now',
  same: 'is already',
  replaced: 'replaced',
  failed: 'did not become',
} as const satisfies Record<StoreOutcome['outcome'], string>

/** Prints every line in its order, and a summary. */
export function showImport(
  terminal: Terminal,
  format: Format,
  lineOutcomes: readonly LineOutcome[],
  source: string,
): void {
  const jobs = lineOutcomes.filter((one) => one.kind === 'job')
  switch (format) {
    case 'json':
      return terminal.out(`${JSON.stringify(lineOutcomes, null, 2)}\n`)
    case 'jsonl':
      return terminal.out(lineOutcomes.map((one) => `${JSON.stringify(one)}\n`).join(''))
    case 'name':
      return terminal.out(jobs.map(({ name }) => `${name}\n`).join(''))
    case 'table': {
      const width = String(lineOutcomes.at(-1)?.line ?? 0).length
      const lines = lineOutcomes.flatMap((one) => describe(terminal, one, width))
      return terminal.out([...lines, '', summary(lineOutcomes, source), ''].join('\n'))
    }
  }
}

function describe(terminal: Terminal, one: LineOutcome, width: number): string[] {
  const label = `${String(one.line).padStart(width)}  `
  const indent = ' '.repeat(width + 2)
  switch (one.kind) {
    case 'setting': {
      const setting = paint(terminal, 'grey', harmless(`${one.name}=${one.value}`))
      return [label + setting, ...hangingIndent(terminal, `${indent}  `, one.note)]
    }
    case 'refused': {
      const why = `not imported: ${one.message}${one.hint === null ? '' : `. ${one.hint}`}`
      const text = paint(terminal, 'red', harmless(one.text))
      return [label + text, ...hangingIndent(terminal, `${indent}  `, why)]
    }
    case 'job': {
      const { definition, name, outcome, message, words, zone } = one
      const as = definition.run_as === undefined ? '' : `, as ${definition.run_as}`
      const reads = definition.stdin === undefined ? '' : ', with input'
      const colour = outcome === 'failed' ? 'red' : 'green'
      const became = paint(
        terminal,
        colour,
        `${OUTCOMES[outcome]} ${paint(terminal, 'bold', name)}`,
      )
      return [
        label + harmless(definition.run ?? ''),
        `${indent}  ${became}: ${words}, ${zone}${as}${reads}`,
        ...(message === null ? [] : hangingIndent(terminal, `${indent}  `, message)),
      ]
    }
  }
}

function summary(lineOutcomes: readonly LineOutcome[], source: string): string {
  const count = (holds: (one: LineOutcome) => boolean) => lineOutcomes.filter(holds).length
  const of = (...outcomes: StoreOutcome['outcome'][]) =>
    count((one) => one.kind === 'job' && outcomes.includes(one.outcome))
  const parts = [
    [of('planned'), 'would become jobs'],
    [of('made'), 'became jobs'],
    [of('replaced'), 'replaced jobs'],
    [of('same'), 'were there already'],
    [of('failed'), 'did not become jobs'],
    [count(({ kind }) => kind === 'refused'), 'not imported'],
  ] as const
  const counts = parts.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : []))
  return `${source}: ${counts.length > 0 ? counts.join(', ') : 'nothing to import'}`
}
