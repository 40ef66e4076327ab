import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { OPENAPI_FILE } from '../../tools/openapi.ts'
import { openApi, ROOT_TOKEN } from './open-api.ts'

/** External checkers of API descriptions, in the pinned versions of that folder. */
const TOOLS = join(import.meta.dirname, '../../tools/openapi-check')
const DOCUMENT = fileURLToPath(OPENAPI_FILE)

const toolAt = (path: string) => ({
  command: join(TOOLS, path),
  skip: !existsSync(join(TOOLS, path)) && `needs ${path}: run tools/openapi-check/install`,
})
const spectral = toolAt('node_modules/.bin/spectral')
const redocly = toolAt('node_modules/.bin/redocly')
const schemathesis = toolAt('.venv/bin/schemathesis')

async function run(
  command: string,
  argv: readonly string[],
  { cwd = TOOLS, env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const child = spawn(command, argv, {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output, out }
}

test('spectral reports nothing with its recommended rules', { skip: spectral.skip }, async () => {
  const argv = ['lint', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint', DOCUMENT]
  const { code, output } = await run(spectral.command, argv)
  assert.equal(code, 0, output)
})

test('redocly reports nothing with its recommended rules', { skip: redocly.skip }, async () => {
  const argv = ['lint', '--config', 'redocly.yaml', '--format', 'json', DOCUMENT]
  // It would otherwise look for a newer version and send telemetry.
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { out, output } = await run(redocly.command, argv, { env })
  const { totals } = JSON.parse(out) as { totals: object }
  assert.deepEqual(totals, { errors: 0, warnings: 0, ignored: 0 }, output)
})

/** Phases of schemathesis, and the purpose of each. */
const PHASES: [what: string, argv: string[], env: NodeJS.ProcessEnv][] = [
  [
    'requests from its schemas',
    ['--phases', 'examples,coverage,fuzzing', '--max-examples', '2'],
    {},
  ],
  [
    'chains of requests by its links',
    ['--phases', 'stateful', '--mode', 'positive', '--max-examples', '40'],
    { PUNCTUAL_FOLLOW_LINKS: '1' },
  ],
]
for (const [what, argv, env] of PHASES) {
  test(
    `a server answers as its reference says: ${what}`,
    { skip: schemathesis.skip },
    async (t) => {
      const api = await openApi(t)
      await api.startWorker()
      const home = mkdtempSync(join(tmpdir(), 'punctual-schemathesis-'))
      t.after(() => rmSync(home, { recursive: true, force: true }))
      const { code, output } = await run(
        schemathesis.command,
        [
          '--config-file',
          join(TOOLS, 'schemathesis.toml'),
          'run',
          `${api.url}/openapi.json`,
          ...argv,
          '--header',
          `Authorization: Bearer ${ROOT_TOKEN}`,
          '--no-color',
        ],
        {
          cwd: home,
          env: {
            ...env,
            SCHEMATHESIS_HOOKS: join(TOOLS, 'hooks.py'),
            PYTHONDONTWRITEBYTECODE: '1',
            HOME: home,
          },
        },
      )
      assert.equal(code, 0, output)
    },
  )
}
