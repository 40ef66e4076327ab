import assert from 'node:assert/strict'
import { npm } from './commands.ts'
import type { CheckReport } from './check.ts'
import { findOutputLine, judgedFigures } from './findings.ts'

/** Runs benchmarks and requires every target in them to be met. */
export async function measure(
  root: string,
  scenarios: readonly (string | readonly [name: string, ...options: string[]])[],
  report: CheckReport,
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

/** Runs the tests whose path contains one of these and requires all to pass. */
export async function passTests(
  root: string,
  parts: readonly string[],
  report: CheckReport,
): Promise<string> {
  const printed = await npm(root, ['test', '--', ...parts])
  report.figure('tests', findOutputLine(printed, /^\d+ passed, 0 failed/))
  return printed
}

/** A test that was skipped because a tool is missing has shown nothing. */
export function requireAll(printed: string, missing: RegExp): void {
  const skipped = printed.split('\n').filter((line) => line.includes(' — ') && missing.test(line))
  assert.deepEqual(skipped, [])
}

/** Runs chaos scenarios and requires that none has violations. */
export async function withoutViolations(
  root: string,
  scenarios: readonly string[],
  report: CheckReport,
): Promise<void> {
  const printed = await npm(root, ['run', 'chaos', '--', ...scenarios])
  for (const line of printed.split('\n').filter((each) => /at most|MB/.test(each))) {
    report.figure('chaos', line.trim())
  }
  assert.match(printed, /\b0 violations$/m)
  assert.doesNotMatch(printed, /\b[1-9]\d* violations$/m)
}
