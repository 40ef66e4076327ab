import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { SecretKey } from './keys.ts'
import { seal, type SealSubject, unseal } from './seal.ts'

const key = (id = 'k1'): SecretKey => ({ id, key: createSecretKey(randomBytes(32)) })
const PASSWORD: SealSubject = { projectId: 7, name: 'PGPASSWORD' }

test('a sealed text opens again, and is never encrypted the same way twice', () => {
  const one = key()
  const sealed = [seal(one, PASSWORD, 'hünter2'), seal(one, PASSWORD, 'hünter2')]
  assert.notEqual(sealed[0], sealed[1])
  for (const text of sealed) assert.equal(unseal(one, PASSWORD, text), 'hünter2')
})

test('it does not open for another subject', () => {
  const one = key()
  const sealed = seal(one, PASSWORD, 'hunter22')
  const table: [why: string, opened: string | undefined][] = [
    ['in another project', unseal(one, { ...PASSWORD, projectId: 8 }, sealed)],
    ['under another name', unseal(one, { ...PASSWORD, name: 'PGPASSWORD2' }, sealed)],
    ['as a check of the key', unseal(one, 'check', sealed)],
    ['with another key', unseal(key(), PASSWORD, sealed)],
    ['with the same key of another name', unseal({ ...one, id: 'k2' }, PASSWORD, sealed)],
    ['in another format', unseal(one, PASSWORD, `2${sealed.slice(1)}`)],
    ['cut off', unseal(one, PASSWORD, sealed.slice(0, 12))],
  ]
  for (const [why, opened] of table) assert.equal(opened, undefined, why)
})

test('a single changed bit is noticed, wherever it is', () => {
  const one = key()
  const sealed = seal(one, PASSWORD, 'hunter22')
  const bytes = Buffer.from(sealed.slice(2), 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
    assert.equal(unseal(one, PASSWORD, `1.${changed.toString('base64url')}`), undefined)
  }
})
