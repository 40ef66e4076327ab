import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { allowMounts, parseAllowedMount } from './allowed-mounts.ts'

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'punctual-mounts-')))
after(() => rmSync(dir, { recursive: true }))
for (const name of ['data/inner', 'data-too', 'logs/inner', 'a,b']) {
  mkdirSync(join(dir, name), { recursive: true })
}
symlinkSync(join(dir, 'logs'), join(dir, 'data/link'))
symlinkSync(join(dir, 'data'), join(dir, 'alias'))

const allowed = ['data', 'logs:ro', 'a,b'].map((name) => parseAllowedMount(join(dir, name)))
const ask = (source: string, readonly?: boolean) =>
  allowMounts([{ source: join(dir, source), target: '/t', readonly }], allowed)

const granted: [why: string, source: string, readonly: boolean, real: string][] = [
  ['what is listed', 'data', false, 'data'],
  ['what is below what is only read', 'logs/inner', true, 'logs/inner'],
  ['what leads there', 'alias', false, 'data'],
  ['what is listed for reading, to read', 'logs', true, 'logs'],
  ['what leads to that, to read', 'data/link', true, 'logs'],
]
for (const [why, source, readonly, real] of granted) {
  test(`${why} may be mounted, by its real path`, () => {
    assert.deepEqual(ask(source, readonly), [{ source: join(dir, real), target: '/t', readonly }])
  })
}

const refused: [why: string, source: string, readonly: boolean, says: RegExp][] = [
  ['what is not listed', '.', true, /does not let containers see/],
  ['what only begins alike', 'data-too', true, /does not let containers see/],
  ['what is listed for reading', 'logs', false, /only read/],
  ['a link that leads to that', 'data/link', false, /only read/],
  ['what a container could exchange for a link', 'data/inner', true, /may write to .*\/data, so/],
  ['what is not there', 'data/none', true, /does not exist on this worker/],
  ['a name that says more than one thing', 'a,b', true, /cannot be mounted/],
]
for (const [why, source, readonly, says] of refused) {
  test(`${why} may not be mounted`, () => {
    const answer = ask(source, readonly)
    assert.match('refused' in answer ? answer.refused : 'granted', says)
  })
}

test('where everything is allowed, links cannot lead outside', () => {
  const mount = { source: join(dir, 'data/inner'), target: '/t' }
  assert.deepEqual(allowMounts([mount], [parseAllowedMount('/')]), [mount])
})

test('an operator must give absolute paths', () => {
  assert.deepEqual(parseAllowedMount('/'), { path: '/', isReadonly: false })
  assert.deepEqual(parseAllowedMount('/a:rw'), { path: '/a', isReadonly: false })
  for (const text of ['', 'data', './a', '/a:/b', '/a:rx', ':ro']) {
    assert.throws(() => parseAllowedMount(text), { code: 'config_invalid', field: 'allow-mount' })
  }
})
