import type { CrontabLine, ImportedJob } from '../../core/schedule/crontab/index.ts'
import { beside } from '../terminal/hanging-indent.ts'
import type { Format } from '../terminal/output.ts'
import type { StoreFate } from './store-job.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'

/** What became of a line that says something. */
export type LineFate =
  | Exclude<CrontabLine, { kind: 'entry' }>
  | ({
      readonly kind: 'job'
      readonly cron: string
      readonly zone: string
      readonly words: string
    } & ImportedJob &
      StoreFate)

const OUTCOMES = {
  planned: 'would become',
  made: 'is now',
  same: 'is already',
  replaced: 'replaced',
  failed: 'did not become',
} as const satisfies Record<StoreFate['outcome'], string>

/** Every line of it, in its order, and what it comes to in all. */
export function showImport(
  terminal: Terminal,
  format: Format,
  fates: readonly LineFate[],
  source: string,
): void {
  const jobs = fates.filter((one) => one.kind === 'job')
  switch (format) {
    case 'json':
      return terminal.out(`${JSON.stringify(fates, null, 2)}\n`)
    case 'jsonl':
      return terminal.out(fates.map((one) => `${JSON.stringify(one)}\n`).join(''))
    case 'name':
      return terminal.out(jobs.map(({ name }) => `${name}\n`).join(''))
    case 'table': {
      const width = String(fates.at(-1)?.line ?? 0).length
      const lines = fates.flatMap((one) => describe(terminal, one, width))
      return terminal.out([...lines, '', summary(fates, source), ''].join('\n'))
    }
  }
}

function describe(terminal: Terminal, one: LineFate, width: number): string[] {
  const label = `${String(one.line).padStart(width)}  `
  const indent = ' '.repeat(width + 2)
  switch (one.kind) {
    case 'setting': {
      const said = paint(terminal, 'grey', harmless(`${one.name}=${one.value}`))
      return [label + said, ...beside(terminal, `${indent}  `, one.note)]
    }
    case 'refused': {
      const why = `not imported: ${one.message}${one.hint === null ? '' : `. ${one.hint}`}`
      const text = paint(terminal, 'red', harmless(one.text))
      return [label + text, ...beside(terminal, `${indent}  `, why)]
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
        ...(message === null ? [] : beside(terminal, `${indent}  `, message)),
      ]
    }
  }
}

function summary(fates: readonly LineFate[], source: string): string {
  const count = (holds: (one: LineFate) => boolean) => fates.filter(holds).length
  const of = (...outcomes: StoreFate['outcome'][]) =>
    count((one) => one.kind === 'job' && outcomes.includes(one.outcome))
  const parts = [
    [of('planned'), 'would become jobs'],
    [of('made'), 'became jobs'],
    [of('replaced'), 'replaced jobs'],
    [of('same'), 'were there already'],
    [of('failed'), 'did not become jobs'],
    [count(({ kind }) => kind === 'refused'), 'not imported'],
  ] as const
  const said = parts.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : []))
  return `${source}: ${said.length > 0 ? said.join(', ') : 'there is nothing in it to import'}`
}
