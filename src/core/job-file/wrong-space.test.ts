import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJobFile } from './read-job-file.ts'

const FILE = `title: Nightly
queue: etl
schedule:
  - cron: '0 2 * * *'
    timezone: Europe/Athens
input:
  date: { type: string }
  full: { type: boolean }
steps:
  extract:
    run: |
      set -eu
      ./extract.sh
    retry:
      max: 3
      delay: 10s
  load:
    needs: extract
    each:
      - eu
      - us
    run: ./load.sh
    env:
      REGION: \${{ item }}
`

const problemsOf = (lines: readonly string[]) =>
  readJobFile('nightly.job.yaml', lines.join('\n'), 'UTC').problems

test('reports one missing or extra space as one problem, not one for every following line', () => {
  const lines = FILE.split('\n')
  assert.deepEqual(problemsOf(lines), [])
  for (const [index, line] of lines.entries()) {
    if (line === '') continue
    const wrong = [` ${line}`, ...(line.startsWith(' ') ? [line.slice(1)] : [])]
    for (const changed of wrong) {
      const found = problemsOf(lines.with(index, changed))
      const report = `${index + 1}: "${changed}" ${JSON.stringify(found)}`
      assert.ok(found.length <= 1, report)
    }
  }
})
