import { join } from 'node:path'
import type { Check } from './check.ts'
import { npm } from './commands.ts'
import { findOutputLine } from './findings.ts'
import { runLargeWorkflows } from './large-workflows.ts'
import { measure, passTests, withoutViolations } from './measuring.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Acceptance checks of workflows: files, graphs, waves, retries, under faults and at size. */
export const checks: Check[] = [
  {
    id: 'W1',
    title:
      'the examples are validated, applied and run; 10,000 workflows end as a simple evaluator says',
    async run(report) {
      const parts = ['test/job-files/examples', 'test/cli/job-files', 'test/workflows/engine']
      await passTests(ROOT, parts, report)
    },
  },
  {
    id: 'W2',
    title:
      'simulated and real faults: no step early or twice, no wave meets another, none is stuck',
    async run(report) {
      const parts = [
        'test/sim/workflows/',
        'test/chaos/workflows/',
        'test/workflows/',
        'test/api/after',
      ]
      await passTests(ROOT, parts, report)
      const seeds = ['--world', 'workflows', '--seeds', '200', '--moves', '150']
      const printed = await npm(ROOT, ['run', 'sim', '--', ...seeds])
      report.figure('sim', findOutputLine(printed, /^200 seeds, .* 0 with violations$/))
      await withoutViolations(ROOT, ['workflows'], report)
    },
  },
  {
    id: 'W3',
    title: 'cycles, strange names, 100,000 steps, a million edges, expressions that mean harm',
    async run(report) {
      const parts = ['test/workflows/hostile', 'src/core/workflow/', 'src/core/expression/']
      const more = ['test/expressions/', 'test/api/workflow', 'test/api/large-workflows']
      await passTests(ROOT, [...parts, ...more], report)
      await runLargeWorkflows(report)
    },
  },
  {
    id: 'W4',
    title: '100,000 steps side by side, 10,000 one after the other, 1,000 workflows at a time',
    run: (report) => measure(ROOT, ['dag'], report),
  },
  {
    id: 'W5',
    title: 'of 1,000 processes with 7 failures 7 run again, by what they wrote themselves',
    async run(report) {
      await passTests(ROOT, ['test/workflows/retry-failed', 'test/workflows/step-control'], report)
    },
  },
  {
    id: 'W6',
    title: 'twenty broken files, each with an error that says what to change',
    run: async (report) => void (await passTests(ROOT, ['test/job-files/broken'], report)),
  },
]
