import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JudgedFigure } from '../../bench/harness/verdict.ts'

/** The first line of an output that matches. */
export function findOutputLine(printed: string, pattern: RegExp): string {
  const line = printed.split('\n').find((each) => pattern.test(each.trim()))
  assert.ok(line !== undefined, `no line like ${String(pattern)} in\n${printed.slice(-2_000)}`)
  return line.trim()
}

export interface Finding {
  readonly label: string
  readonly value: string
  readonly target: string
  readonly isMet: boolean
}

/** Every target of the newest result of a benchmark, and whether it was met. */
export function judgedFigures(root: string, scenario: string): Finding[] {
  const results = join(root, 'bench/results')
  const newest = readdirSync(results)
    .filter((file) => file.startsWith(`${scenario}-`))
    .toSorted()
    .at(-1)
  assert.ok(newest !== undefined, `the benchmark ${scenario} left no result`)
  const { figures } = JSON.parse(readFileSync(join(results, newest), 'utf8')) as {
    figures: JudgedFigure[]
  }
  return figures.flatMap(({ figure, targets }) =>
    targets.map(({ target, baseline, value, met }) => ({
      label: baseline === null ? figure.label : `${figure.label} against ${baseline}`,
      value: value === null ? 'not measured' : String(Number(value.toPrecision(3))),
      target:
        target.atLeast === undefined ? `at most ${target.atMost}` : `at least ${target.atLeast}`,
      isMet: met === true,
    })),
  )
}
