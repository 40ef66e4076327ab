import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parseAllowedMount } from './allowed-mounts.ts'
import { refuseMovable } from './movable-mounts.ts'

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'punctual-movable-')))
after(() => rmSync(dir, { recursive: true }))
for (const name of ['data/x', 'data/was', 'data2', 'logs']) {
  mkdirSync(join(dir, name), { recursive: true })
}
const link = (target: string, path: string) => symlinkSync(target, join(dir, path))
link('data', 'alias')
link('data/x', 'into')
link('data/back', 'through')
link('../logs', 'data/back')
link('loop', 'loop')
link('own/again', 'round')
mkdirSync(join(dir, 'own'))
link('../own', 'own/again')

const refuse = (...names: string[]) =>
  refuseMovable(
    names.map((name) => parseAllowedMount(name.startsWith('/') ? name : `${dir}/${name}`)),
  )

const movable: [why: string, names: string[], says: RegExp][] = [
  ['what is read below what is written', ['data', 'data/x:ro'], /\/data\/x:ro through .*\/data,/],
  ['whichever is named first', ['data/x:ro', 'data'], /\/data\/x:ro through .*\/data,/],
  ['what is written below what is written', ['data', 'data/x'], /\/data\/x through .*\/data,/],
  ['what is not there yet', ['data', 'data/none/deep:ro'], /deep:ro through/],
  ['below what is not there yet', ['none', 'none/x:ro'], /x:ro through .*none,/],
  ['a path with more slashes than it needs', ['data//', 'data/x/:ro'], /through/],
  ['a path with detours', ['logs/../data', 'data2/.././data/x:ro'], /through/],
  ['below what a link leads to', ['alias', 'data/x:ro'], /through .*\/alias,/],
  ['below the link to it', ['data', 'alias/x:ro'], /through/],
  ['a link that leads there', ['data', 'into:ro'], /\/into:ro through .*\/data,/],
  ['a link that leads on from there', ['data', 'through:ro'], /\/through:ro through/],
  ['a link that leads through itself', ['round'], /\/round through .*\/round,/],
  ['anything, where everything is written', ['/', 'logs:ro'], /through \/,/],
]
for (const [why, names, says] of movable) {
  test(`${why}: a container could redirect the path, so it is not allowed`, () => {
    assert.throws(() => refuse(...names), { code: 'config_invalid', message: says })
  })
}

const steady: [why: string, names: string[]][] = [
  ['nothing', []],
  ['everything', ['/']],
  ['what only begins alike', ['data', 'data2:ro', 'data2/x:ro']],
  ['what is named twice', ['data', 'data', 'data/']],
  ['what is written below what is read', ['data:ro', 'data/x']],
  ['what is read below what is read', ['data:ro', 'data/x:ro', 'into:ro']],
  ['a link past it', ['alias', 'logs:ro']],
  ['what is no longer below', ['data', 'data/../logs:ro']],
  ['a link that leads nowhere', ['loop', 'data']],
]
for (const [why, names] of steady) {
  test(`${why} cannot be redirected and is allowed`, () => refuse(...names))
}

test('a path that has already become a link is refused at the next start', () => {
  renameSync(join(dir, 'data/x'), join(dir, 'data/y'))
  link('/', 'data/x')
  assert.throws(() => refuse('data', 'data/x:ro'), { message: /\/data\/x:ro through .*\/data,/ })
})

for (const names of [
  ['data', 'data:ro'],
  ['data/:ro', 'data'],
  ['alias:ro', 'data'],
]) {
  test(`${names.join(' and ')} contradict each other`, () => {
    const says = /are the same directory, once to read and once to write/
    assert.throws(() => refuse(...names), { code: 'config_invalid', message: says })
  })
}
