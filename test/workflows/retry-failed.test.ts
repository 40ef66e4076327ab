// Real processes, which record that they ran.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'

const ITEMS = 1_000
const BAD = [0, 13, 14, 500, 501, 998, 999]

test('of 1,000 processes 7 fail, and a retry of the failed ones starts those 7 and the steps that depend on them', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-again-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const [truth, trouble] = [join(dir, 'truth'), join(dir, 'trouble')]
  writeFileSync(trouble, '')
  const { call, startWorker } = await openApi(t)
  const say = `echo "$PUNCTUAL_JOB $ITEM" >> "$TRUTH"`
  const { status, body: made } = await call('PUT', '/v1/jobs/etl', {
    body: {
      shell: '/bin/sh',
      env: { TRUTH: truth, TROUBLE: trouble, BAD: ` ${BAD.join(' ')} ` },
      steps: {
        list: { run: `${say}; echo [$(seq -s, 0 ${ITEMS - 1})] > "$PUNCTUAL_OUTPUT"` },
        load: {
          needs: 'list',
          each: '${{ steps.list.output }}',
          run: `${say}; [ ! -e "$TROUBLE" ] || case "$BAD" in *" $ITEM "*) exit 1;; esac`,
        },
        other: { run: say },
        report: { needs: 'load', run: say },
        clean: { finally: true, run: say },
      },
    },
  })
  assert.equal(status, 201, JSON.stringify(made))
  await startWorker({ slots: 16 })
  const endOf = (id: string) =>
    waitFor(
      async () => {
        const { body } = await call<WireRun>('GET', `/v1/runs/${id}`)
        return body.finished_at === null ? undefined : body
      },
      { what: 'the workflow to end', deadlineMs: 300_000, intervalMs: 100 },
    )
  const ran = () => (existsSync(truth) ? readFileSync(truth, 'utf8').split('\n').slice(0, -1) : [])

  const { body: first } = await call<{ id: string }>('POST', '/v1/jobs/etl/runs', { body: {} })
  assert.equal((await endOf(first.id)).state, 'failed')
  const all = ['etl/clean ', ...Array.from({ length: ITEMS }, (_, item) => `etl/load ${item}`)]
  assert.deepEqual(ran().toSorted(), [...all, 'etl/list ', 'etl/other '].toSorted())

  rmSync(trouble)
  writeFileSync(truth, '')
  const retry = { body: { only: 'failed' } }
  const { body: again } = await call<{ id: string }>('POST', `/v1/runs/${first.id}/retry`, retry)
  const { state, retry_of: retryOf } = await endOf(again.id)
  assert.deepEqual([state, retryOf], ['succeeded', first.id])
  const wanted = [...BAD.map((item) => `etl/load ${item}`), 'etl/report ', 'etl/clean ']
  assert.deepEqual(ran().toSorted(), wanted.toSorted())
})
