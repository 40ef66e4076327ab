import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi } from './open-api.ts'

const NODE = process.execPath
const EVIL = `'; "$(echo HACKED)" \`echo HACKED\` $HOME * ; exit 1`

test('values pass between steps as data: through a list, a fan-out and a condition', async (t) => {
  const { call, startWorker } = await openApi(t)
  await startWorker()
  const body = {
    input: { words: { type: 'string' }, full: { type: 'boolean', default: false } },
    env: { WORDS: '${{ input.words }}' },
    steps: {
      list: { run: `printf '{"parts":["a b","$(exit 1)","c"]}' > "$PUNCTUAL_OUTPUT"` },
      each: {
        needs: 'list',
        each: '${{ steps.list.output.parts }}',
        run: `"${NODE}" -e 'fs.writeFileSync(process.env.PUNCTUAL_OUTPUT, JSON.stringify(process.argv[1]))' \${{ item }}`,
      },
      skipped: { needs: 'each', if: '${{ input.full }}', run: 'exit 1' },
      last: {
        needs: ['each', 'skipped'],
        argv: [
          NODE,
          '-e',
          'fs.writeFileSync(process.env.PUNCTUAL_OUTPUT, process.argv[1])',
          '${{ json(steps.each.output) }}',
        ],
      },
      words: {
        run: `"${NODE}" -e 'fs.writeFileSync(process.env.PUNCTUAL_OUTPUT, JSON.stringify([process.argv[1], process.env.WORDS]))' "\${{ input.words }}"`,
      },
    },
  }
  const made = await call('PUT', '/v1/jobs/flow', { body })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { body: run } = await call<{ id: string }>('POST', '/v1/jobs/flow/runs', {
    body: { input: { words: EVIL } },
  })
  const { body: ended } = await call<WireRun>('GET', `/v1/runs/${run.id}?wait=25s`)
  assert.equal(ended.state, 'succeeded', JSON.stringify(ended))
  const resultOf = async (step: string) => {
    const { body: page } = await call<{ data: WireRun[] }>('GET', `/v1/runs?q=job:flow/${step}`)
    return (await call<{ result: unknown }>('GET', `/v1/runs/${page.data[0]?.id}`)).body.result
  }
  assert.deepEqual(await resultOf('last'), ['a b', '$(exit 1)', 'c'])
  assert.deepEqual(await resultOf('words'), [EVIL, EVIL])
})
