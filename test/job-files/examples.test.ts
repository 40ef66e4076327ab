import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { encodeDefinition } from '../../src/core/job/job-definition.ts'
import { readJobFile } from '../../src/core/job-file/read-job-file.ts'
import { writeJobFile } from '../../src/core/job-file/write-job-file.ts'
import { jobFileSchema } from '../../src/core/schema/json-schema.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILES = globSync('examples/**/*.job.{yaml,json}', { cwd: ROOT }).toSorted()
const BROKEN = globSync('test/job-files/broken/*.job.yaml', { cwd: ROOT }).toSorted()

interface Validate {
  (value: unknown): boolean
  errors?: unknown
}

/** The JSON schema validator that fastify depends on. */
const validate = (() => {
  const load = createRequire(createRequire(import.meta.url).resolve('@fastify/ajv-compiler'))
  const { default: Ajv } = load('ajv/dist/2020.js') as {
    default: new (options: object) => { compile(schema: object): Validate }
  }
  return new Ajv({ strict: true, allowUnionTypes: true }).compile(jobFileSchema())
})()

test('there is a sample project of ten files', () => {
  assert.ok(FILES.length >= 10)
})

for (const file of FILES) {
  const text = readFileSync(join(ROOT, file), 'utf8')

  test(`${file} is valid for Punctual and for an editor`, () => {
    const { problems } = readJobFile(file, text, 'UTC')
    assert.deepEqual(problems, [])
    assert.ok(validate(parse(text)), JSON.stringify(validate.errors))
  })

  test(`${file}, exported again, is the same job`, () => {
    const { definition } = readJobFile(file, text, 'UTC')
    assert.ok(definition)
    const again = readJobFile(file, writeJobFile(definition), 'UTC')
    assert.deepEqual(again.problems, [])
    assert.ok(again.definition)
    assert.equal(encodeDefinition(again.definition), encodeDefinition(definition))
  })
}

test('an editor finds the same structural errors as Punctual', () => {
  const shapes = new Set(['unknown_field', 'missing_field', 'invalid_field'])
  for (const file of BROKEN) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const codes = readJobFile(file, text, 'UTC').problems.map(({ code }) => code)
    if (codes.includes('invalid_yaml')) continue
    const isShape = codes.every((code) => shapes.has(code))
    if (isShape) assert.equal(validate(parse(text)), false, file)
  }
})

test('every field of the schema says what it is for', () => {
  const { properties, $defs } = jobFileSchema() as Record<'properties' | '$defs', Fields>
  for (const fields of [
    properties,
    ...Object.values($defs).map((one) => one.properties as Fields),
  ]) {
    for (const [name, { description }] of Object.entries(fields)) {
      assert.match(String(description), /^[`A-Z].*\.$/s, name)
    }
  }
})

type Fields = Record<string, { description?: string; properties?: unknown }>
