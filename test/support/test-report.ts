import type { FileResult } from './test-events.ts'

const SLOWEST = 10
const SLOW_MS = 1_000

/** One line per file, printed as soon as the file is done, with how many files are done so far. */
export function fileLine(
  { file, passed, failures, skips, durationMs }: FileResult,
  progress: { done: number; of: number },
): string {
  const counts = [`${passed} passed`]
  if (failures.length > 0) counts.push(`${failures.length} failed`)
  if (skips.length > 0) counts.push(`${skips.length} skipped`)
  const mark = failures.length > 0 ? 'FAIL' : 'ok  '
  const done = `[${String(progress.done).padStart(String(progress.of).length)}/${progress.of}]`
  return `${mark} ${done} ${seconds(durationMs).padStart(8)}  ${file}  (${counts.join(', ')})`
}

/** Everything after the last file: failures in full, servers, skips, slow files, the totals. */
export function closingReport(results: FileResult[], servers: string[]): string {
  return [
    ...results.filter(({ failures }) => failures.length > 0).map(failureSection),
    `\nservers: ${servers.join(', ') || 'none'}`,
    ...skipLines(results),
    ...slowLines(results),
    totalsLine(results),
  ].join('\n')
}

export function totalsLine(results: FileResult[]): string {
  const { passed, failed, skipped } = totals(results)
  const line = `${passed} passed, ${failed} failed`
  return skipped > 0 ? `${line}, ${skipped} skipped` : line
}

/** A run without any passed test has shown nothing, so it is not a success. */
export function isSuccess(results: FileResult[]): boolean {
  const { passed, failed } = totals(results)
  return failed === 0 && passed > 0
}

function totals(results: FileResult[]): { passed: number; failed: number; skipped: number } {
  const sum = (count: (result: FileResult) => number) =>
    results.reduce((total, result) => total + count(result), 0)
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failures }) => failures.length),
    skipped: sum(({ skips }) => skips.length),
  }
}

function failureSection({ file, failures, output }: FileResult): string {
  const parts = failures.map(({ name, detail }) =>
    name.endsWith(file) ? indent(detail) : `  ✖ ${name}\n${indent(indent(detail))}`,
  )
  const printed = output.trim() ? `\n\n  The file printed:\n${indent(indent(output.trim()))}` : ''
  return `\nFAIL ${file}\n\n${parts.join('\n\n')}${printed}`
}

function skipLines(results: FileResult[]): string[] {
  const lines = results.flatMap(({ file, skips }) =>
    skips.map(({ name, reason }) => `  ${file}: ${name}${reason ? ` — ${reason}` : ''}`),
  )
  return lines.length > 0 ? ['skipped:', ...lines] : []
}

function slowLines(results: FileResult[]): string[] {
  const slow = results
    .filter(({ durationMs }) => durationMs >= SLOW_MS)
    .toSorted((a, b) => b.durationMs - a.durationMs)
    .slice(0, SLOWEST)
    .map(({ file, durationMs }) => `  ${seconds(durationMs).padStart(8)}  ${file}`)
  return slow.length > 0 ? ['slowest:', ...slow] : []
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}
