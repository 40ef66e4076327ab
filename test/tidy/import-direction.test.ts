import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importViolation } from './import-direction.ts'

const allowed: [why: string, from: string, specifier: string][] = [
  ['core builds on core', 'src/core/retry.ts', './duration.ts'],
  ['core may hash', 'src/core/ids.ts', 'node:crypto'],
  ['a port uses the types of core', 'src/store/port.ts', '../core/run-state.ts'],
  ['an adapter imports its port', 'src/store/sqlite/claim.ts', '../port.ts'],
  ['an adapter uses its own folder', 'src/store/sqlite/migrations/0001.ts', '../schema.ts'],
  ['an adapter may build on another port', 'src/blobs/store/x.ts', '../../store/port.ts'],
  ['an adapter does I/O', 'src/store/sqlite/open.ts', 'node:fs'],
  ['the server asks a port', 'src/server/tick/x.ts', '../../store/port.ts'],
  ['a port may be a folder', 'src/server/tick/x.ts', '../../store/port/runs.ts'],
  ['the server calls strangers through the guard', 'src/server/x.ts', '../outbound/outbound.ts'],
  ['so does the worker', 'src/worker/x.ts', '../outbound/outbound.ts'],
  ['the worker uses core', 'src/worker/lease.ts', '../core/fence.ts'],
  ['the command line is a client', 'src/cli/run.ts', '../client/index.ts'],
  ['main names adapters', 'src/main/start.ts', '../store/postgres/open.ts'],
  ['the front door hands out the client', 'src/index.ts', './client/index.ts'],
  ['a server test may use a real store', 'src/server/tick/x.test.ts', '../../store/sqlite/open.ts'],
  ['an adapter test runs the contract', 'src/store/sqlite/store.test.ts', '../contract.ts'],
  ['a contract uses test support', 'src/store/contract/claim.ts', '../../../test/support/x.ts'],
  ['so does a fixture', 'src/store/sqlite/file.fixture.ts', '../contract/index.ts'],
  ['files outside src go where they like', 'test/sim/world.ts', '../../src/main/start.ts'],
]
for (const [why, from, specifier] of allowed) {
  test(why, () => assert.equal(importViolation(from, specifier), undefined))
}

const refused: [why: string, from: string, specifier: string, says: string][] = [
  [
    'the server names no adapter',
    'src/server/tick/x.ts',
    '../../store/postgres/claim.ts',
    '`server/tick/x.ts` may not import `store/postgres`; ask for it through `store/port`',
  ],
  ['nor does the worker', 'src/worker/x.ts', '../store/sqlite/open.ts', 'through `store/port`'],
  ['core knows nobody', 'src/core/x.ts', '../store/port.ts', 'core imports nothing but core'],
  ['core reads no files', 'src/core/x.ts', 'node:fs', 'core does no I/O'],
  ['core opens no sockets', 'src/core/x.ts', 'node:net', 'core does no I/O'],
  ['not even in its tests', 'src/core/x.test.ts', '../store/sqlite/open.ts', 'nothing but core'],
  ['ports do not meet', 'src/store/port.ts', '../queue/port.ts', 'store imports only itself, core'],
  ['adapters do not meet', 'src/store/sqlite/x.ts', '../postgres/x.ts', 'do not know each other'],
  [
    'nor those of two ports',
    'src/blobs/store/x.ts',
    '../../store/sqlite/x.ts',
    'through `store/port`',
  ],
  ['a port imports no adapter', 'src/store/port.ts', './sqlite/open.ts', 'know no adapter'],
  ['a contract neither', 'src/store/contract/x.ts', '../sqlite/open.ts', 'know no adapter'],
  ['nor other areas', 'src/store/contract/x.ts', '../../server/node.ts', 'store imports only'],
  [
    'server and worker are strangers',
    'src/server/x.ts',
    '../worker/lease.ts',
    'server imports only',
  ],
  ['the client sees core only', 'src/client/x.ts', '../server/node.ts', 'client imports only'],
  ['not even a port', 'src/client/x.ts', '../store/port.ts', 'client imports only itself, core'],
  ['the command line is no server', 'src/cli/x.ts', '../server/node.ts', 'core and client'],
  ['nothing depends on main', 'src/cli/x.ts', '../main/start.ts', 'nothing may depend on it'],
  ['no test code in production', 'src/store/sqlite/x.ts', '../contract.ts', 'never leans on test'],
  ['nor test support', 'src/main/x.ts', '../../test/support/wait-for.ts', 'never leans on test'],
  ['nor a fake', 'src/worker/x.ts', './testing/fake-scheduler.ts', 'never leans on test'],
  ['nor a fixture', 'src/store/sqlite/x.ts', './file-store.fixture.ts', 'never leans on test'],
  [
    'the guard does not import its users',
    'src/outbound/x.ts',
    '../worker/line.ts',
    'outbound imports',
  ],
  [
    'the client imports no other area',
    'src/client/x.ts',
    '../outbound/x.ts',
    'client imports only',
  ],
  ['a new folder must be placed', 'src/plugins/x.ts', '../core/ids.ts', 'in no known area'],
]
for (const [why, from, specifier, says] of refused) {
  test(why, () => {
    const sentence = importViolation(from, specifier) ?? 'allowed'
    assert.ok(sentence.includes(says), sentence)
  })
}
