import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MEANINGS } from './field-docs.ts'
import { BODIES, type BodyName } from '../shapes/answers.ts'

for (const [name, body] of Object.entries(BODIES)) {
  test(`every field of ${name} has a meaning, and no other`, () => {
    const meanings = Object.keys(MEANINGS[name as BodyName])
    const properties = 'properties' in body ? body.properties : {}
    assert.deepEqual(meanings.toSorted(), Object.keys(properties).toSorted())
  })
}
