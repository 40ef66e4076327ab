import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeCertificate, skipWithoutOpenssl as skip } from '../../../test/support/certificate.ts'
import { readSettings } from './settings.ts'

function tempDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-tls-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return dir
}

const read = (tlsCert: string, tlsKey: string) => readSettings({ tlsCert, tlsKey }, {}).tls

test('a certificate and its key are read, also from a file that a group shares', { skip }, (t) => {
  const { cert, key } = makeCertificate(tempDir(t))
  assert.match(read(cert, key)?.cert.toString() ?? '', /BEGIN CERTIFICATE/)
  chmodSync(key, 0o640)
  assert.ok(read(cert, key))
})

test('a key that every user can read is refused', { skip }, (t) => {
  const { cert, key } = makeCertificate(tempDir(t))
  chmodSync(key, 0o644)
  const message = /tls-key .*server\.key can be read by every user; run chmod o= on it/
  assert.throws(() => read(cert, key), { code: 'config_invalid', field: 'tls-key', message })
})

test('a certificate of another key is refused', { skip }, (t) => {
  const dir = tempDir(t)
  const ours = makeCertificate(dir)
  const theirs = makeCertificate(dir, 'other')
  const message = /server\.pem does not match .*other\.key: .*mismatch/
  assert.throws(() => read(ours.cert, theirs.key), { code: 'config_invalid', message })
})

test('files with other content are refused', { skip }, (t) => {
  const dir = tempDir(t)
  const { cert } = makeCertificate(dir)
  const key = join(dir, 'empty.key')
  writeFileSync(key, '', { mode: 0o600 })
  assert.throws(() => read(cert, key), { message: /does not match .*empty\.key/ })
})

test('missing files are named, both of them', () => {
  const message = /^tls-cert \/no\/cert cannot be read.*\ntls-key \/no\/key cannot be read/
  assert.throws(() => read('/no/cert', '/no/key'), { code: 'config_invalid', message })
})
