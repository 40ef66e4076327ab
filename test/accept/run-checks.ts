import type { Check } from './check.ts'

/** Runs checks one after the other, so that their figures do not disturb each other. */
export async function runChecks(
  checks: readonly Check[],
  print: (line: string) => void,
): Promise<boolean> {
  const failed: string[] = []
  for (const check of checks) {
    const figures: string[] = []
    const report = {
      figure(name: string, value: string | number) {
        figures.push(`${name} ${value}`)
      },
    }
    const startedAt = performance.now()
    const problem = await check.run(report).then(
      () => undefined,
      (error: unknown) => error ?? new Error('it failed without saying why'),
    )
    figures.push(`${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    const verdict = problem === undefined ? 'PASS' : 'FAIL'
    print(`${verdict} ${check.id}  ${check.title}  [${figures.join(', ')}]`)
    if (problem === undefined) continue
    failed.push(check.id)
    print(describe(problem))
  }
  print('')
  print(`${checks.length - failed.length} of ${checks.length} checks passed${listed(failed)}`)
  // Without any check nothing was shown.
  return failed.length === 0 && checks.length > 0
}

function describe(problem: unknown): string {
  const text = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
  return text.replaceAll(/^/gm, '     ')
}

function listed(failed: string[]): string {
  return failed.length > 0 ? `; failed: ${failed.join(', ')}` : ''
}
