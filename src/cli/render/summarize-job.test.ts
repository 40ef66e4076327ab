import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobDefinition } from '../../core/job/job-definition.ts'
import { summarizeJob } from './summarize-job.ts'

const TABLE: [what: string, definition: JobDefinition, shown: string][] = [
  ['a command', { run: 'pg_dump shop' }, 'pg_dump shop'],
  ['a program', { argv: ['ls', '-l', '/tmp'] }, 'ls -l /tmp'],
  ['a script, its first line', { script: '\nset -e\n  make\n' }, 'set -e …'],
  ['a request', { http: { url: 'https://shop/health' } }, 'GET https://shop/health'],
  [
    'a container',
    { container: { image: 'alpine:3', command: ['date', '-u'] } },
    'container alpine:3 date -u',
  ],
  ['a function of its own name', {}, 'task nightly'],
  ['another function', { task: 'mail.send' }, 'task mail.send'],
  ['a workflow', { steps: { a: { run: 'a' }, b: { run: 'b', needs: 'a' } } }, '2 steps'],
  ['a short one', { steps: [{ run: 'a' }] }, '1 step'],
]
for (const [what, definition, shown] of TABLE) {
  test(`the summary of a job for ${what}`, () => {
    assert.equal(summarizeJob(definition, 'nightly'), shown)
  })
}
