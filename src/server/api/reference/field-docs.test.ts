import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIELD_DOCS } from './field-docs.ts'
import { BODIES, type BodyName } from './bodies.ts'

for (const [name, body] of Object.entries(BODIES)) {
  test(`every field of ${name} is described, and no other`, () => {
    const fieldDocs = Object.keys(FIELD_DOCS[name as BodyName])
    const properties = 'properties' in body ? body.properties : {}
    assert.deepEqual(fieldDocs.toSorted(), Object.keys(properties).toSorted())
  })
}
