import assert from 'node:assert/strict'
import { npm } from './commands.ts'
import type { Report } from './check.ts'
import { findLine, judgedFigures } from './findings.ts'

/** Runs benchmarks and demands every target they carry. */
export async function measure(
  root: string,
  scenarios: readonly (string | readonly [name: string, ...options: string[]])[],
  report: Report,
): Promise<void> {
  const missed: string[] = []
  for (const scenario of scenarios) {
    const [name = '', ...options] = [scenario].flat()
    await npm(root, ['run', 'bench', '--', name, ...options])
    for (const { label, value, target, isMet } of judgedFigures(root, name)) {
      report.figure(`${name}: ${label}`, `${value} (${target})`)
      if (!isMet) missed.push(`${name}: ${label} ${value}, ${target}`)
    }
  }
  assert.deepEqual(missed, [])
}

/** Runs the tests whose path contains one of these, and demands that all pass. */
export async function passTests(
  root: string,
  parts: readonly string[],
  report: Report,
): Promise<string> {
  const printed = await npm(root, ['test', '--', ...parts])
  report.figure('tests', findLine(printed, /^\d+ passed, 0 failed/))
  return printed
}

/** What is skipped for want of a tool has not been shown. */
export function requireAll(printed: string, missing: RegExp): void {
  const skipped = printed.split('\n').filter((line) => line.includes(' — ') && missing.test(line))
  assert.deepEqual(skipped, [])
}

/** Plays scenarios of chaos, and demands that nothing went wrong in any. */
export async function withoutViolations(
  root: string,
  scenarios: readonly string[],
  report: Report,
): Promise<void> {
  const printed = await npm(root, ['run', 'chaos', '--', ...scenarios])
  for (const line of printed.split('\n').filter((each) => /at most|MB/.test(each))) {
    report.figure('chaos', line.trim())
  }
  assert.match(printed, /\b0 violations$/m)
  assert.doesNotMatch(printed, /\b[1-9]\d* violations$/m)
}
