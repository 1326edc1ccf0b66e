// Reads TypeScript declarations as JSON Schemas, for the programs beside it that make a description of a typed client.
//
// A client is read with npm `typescript` (5.9.3) and never run. An object type becomes a component once, so that types
// which hold themselves end. What a type leaves open with an index of `any` or `unknown` counts as not described, for else
// nothing could be a fault. Of alternatives only what all of them require is required. Refuses a package that is not there.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

export class Types {
  #names = new Map();
  #waiting = [];
  #within = new Set();
  #count = 0;
  #plain;
  #modules;

  /** `folder` is a `node_modules` folder, `files` are declarations in it; `plain` takes off what the client wraps a type in. */
  constructor(folder, files, plain = (type) => type) {
    const modules = resolve(folder ?? ".");
    this.#modules = modules;
    this.ts = createRequire(join(modules, "noop.js"))("typescript");
    this.#plain = plain;
    const paths = files.map((file) => join(modules, file));
    const absent = paths.find((path) => !existsSync(path));
    if (absent !== undefined) throw new Error(`there is no ${absent}`);
    const { ScriptTarget, ModuleKind, ModuleResolutionKind } = this.ts;
    const options = {
      target: ScriptTarget.ES2022, module: ModuleKind.Node16, moduleResolution: ModuleResolutionKind.Node16,
      strict: true, noEmit: true, skipLibCheck: true, allowJs: true, types: [],
    };
    this.program = this.ts.createProgram(paths, options);
    this.checker = this.program.getTypeChecker();
    this.sources = paths.map((path) => this.program.getSourceFile(path));
  }

  /** A file as it is written, which no type says anything about. */
  source(file) {
    return this.ts.createSourceFile(file, readFileSync(join(this.#modules, file), "utf8"), this.ts.ScriptTarget.Latest, true);
  }

  /** The type that a file exports under this name; nothing if there is none. */
  exported(source, name) {
    const scope = this.checker.getSymbolAtLocation(source);
    const found = this.checker.getExportsOfModule(scope).find((one) => one.name === name);
    return found && this.checker.getDeclaredTypeOfSymbol(found);
  }

  /** The type of an instance of a class that a file declares; nothing if there is none. */
  declared(source, name) {
    const found = source.statements.find((one) => this.ts.isClassDeclaration(one) && one.name?.text === name);
    return found && this.checker.getTypeAtLocation(found);
  }

  /** The type of a member; nothing if there is none. */
  member(type, name) {
    const found = this.checker.getPropertyOfType(type, name);
    return found && this.checker.getNonNullableType(this.checker.getTypeOfSymbol(found));
  }

  /** The members of an object that a caller passes, those of every alternative; required is what all of them require. */
  members(type) {
    const parts = type.isUnion() ? type.types.filter((part) => !this.#is(part, "Undefined")) : [type];
    const found = new Map();
    for (const part of parts) {
      for (const symbol of this.checker.getPropertiesOfType(part)) {
        const its = this.checker.getTypeOfSymbol(symbol);
        if (this.#is(its, "Never") || this.#unset(its)) continue;
        const at = found.get(symbol.name) ?? { schemas: [], count: 0, says: "" };
        at.schemas.push(this.schema(its));
        at.count += this.#optional(symbol) ? 0 : 1;
        at.says ||= this.says(symbol);
        found.set(symbol.name, at);
      }
    }
    return [...found].map(([name, { schemas, count, says }]) => {
      const distinct = [...new Map(schemas.map((one) => [JSON.stringify(one), one])).values()];
      return { name, says, required: count === parts.length, schema: distinct.length === 1 ? distinct[0] : { anyOf: distinct } };
    });
  }

  /** The comment above a member, tags included, on one line. */
  says(symbol) {
    const tags = symbol.getJsDocTags(this.checker).flatMap((tag) => (tag.name === "description" ? (tag.text ?? []) : []));
    const parts = [...symbol.getDocumentationComment(this.checker), ...tags];
    return parts.map((part) => part.text).join("").replaceAll(/\s+/g, " ");
  }

  schema(wrapped) {
    const type = this.#plain(wrapped);
    if (type.isUnion()) return this.#union(type);
    if (type.isStringLiteral()) return { type: "string", enum: [type.value] };
    if (type.isNumberLiteral()) return { type: "number", enum: [type.value] };
    if (this.#is(type, "StringLike") || this.#is(type, "TemplateLiteral")) return { type: "string" };
    if (this.#is(type, "NumberLike")) return { type: "number" };
    if (this.#is(type, "BooleanLike")) return { type: "boolean" };
    if (this.#is(type, "Null")) return { type: "null" };
    if (this.checker.isArrayType(type) || this.checker.isTupleType(type)) return this.#list(type);
    if (this.#is(type, "Any") || this.#is(type, "Unknown")) return {};
    if (type.isIntersection() && type.types.some((part) => this.#is(part, "StringLike"))) return { type: "string" };
    if (type.symbol?.name === "Date") return { type: "string" };
    return this.#reference(type);
  }

  /** Every object type that a schema so far refers to, and those that they refer to. */
  components() {
    const found = {};
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      found[next.name] = this.#object(next.type, next.always);
    }
    return found;
  }

  /** `always` are the members that may be required, all of them when it is not given. */
  #object(type, always) {
    const properties = {};
    const required = [];
    for (const symbol of this.checker.getPropertiesOfType(type)) {
      const its = this.checker.getTypeOfSymbol(symbol);
      if (this.#is(its, "Never") || this.#unset(its) || its.getCallSignatures().length > 0) continue;
      properties[symbol.name] = this.schema(its);
      if (!this.#optional(symbol) && (always?.has(symbol.name) ?? true)) required.push(symbol.name);
    }
    const inner = this.checker.getIndexTypeOfType(type, this.ts.IndexKind.String);
    const closed = inner === undefined || this.#is(inner, "Any") || this.#is(inner, "Unknown") || this.#is(inner, "Never");
    const schema = { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
    return closed ? schema : { ...schema, additionalProperties: this.schema(inner) };
  }

  /** A list of lists of itself, as any JSON is one, ends at the second. */
  #list(type) {
    if (this.#within.has(type)) return { type: "array", items: {} };
    this.#within.add(type);
    const items = this.checker.getTypeArguments(type).map((one) => this.schema(one));
    this.#within.delete(type);
    return { type: "array", items: items.length === 1 ? items[0] : { anyOf: items } };
  }

  #union(type) {
    const parts = type.types.filter((part) => !this.#is(part, "Undefined"));
    if (parts.length > 0 && parts.every((part) => part.isStringLiteral())) {
      return { type: "string", enum: parts.map((part) => part.value) };
    }
    const objects = parts.filter((part) => this.#isPlain(part));
    const always = objects.length > 1 ? this.#common(objects) : undefined;
    const each = parts.map((part) => (objects.includes(part) ? this.#reference(part, always) : this.schema(part)));
    const schemas = new Map(each.map((one) => [JSON.stringify(one), one]));
    return schemas.size === 1 ? [...schemas.values()][0] : { anyOf: [...schemas.values()] };
  }

  /** What all of these objects require. */
  #common(objects) {
    const [first, ...others] = objects.map((one) => {
      const members = this.checker.getPropertiesOfType(one).filter((symbol) => !this.#optional(symbol));
      return new Set(members.map((symbol) => symbol.name));
    });
    return new Set([...first].filter((name) => others.every((other) => other.has(name))));
  }

  #reference(type, always) {
    const its = this.#names.get(type) ?? new Map();
    this.#names.set(type, its);
    const slot = always === undefined ? "all" : `of ${[...always].sort().join(" ")}`;
    if (!its.has(slot)) {
      const said = (type.aliasSymbol ?? type.symbol)?.name.replaceAll(/\W/g, "") ?? "";
      this.#count += 1;
      its.set(slot, `${said || "object"}_${this.#count}`);
      this.#waiting.push({ type, always, name: its.get(slot) });
    }
    return { $ref: `#/components/schemas/${its.get(slot)}` };
  }

  /** Whether it is an object with members, no list and no text. */
  #isPlain(type) {
    const isObject = this.#is(type, "Object") || type.isIntersection();
    const isText = type.isIntersection() && type.types.some((part) => this.#is(part, "StringLike"));
    return isObject && !isText && !this.checker.isArrayType(type) && !this.checker.isTupleType(type) && type.symbol?.name !== "Date";
  }

  #is(type, flag) {
    return (type.flags & this.ts.TypeFlags[flag]) !== 0;
  }

  /** Whether an optional member may never be given: `never` with the `undefined` of its question mark. */
  #unset(type) {
    return this.#is(type, "Undefined") || (type.isUnion() && type.types.length === 0);
  }

  #optional(symbol) {
    return (symbol.flags & this.ts.SymbolFlags.Optional) !== 0;
  }
}

/** Prints a description of `host`; fewer than `least` paths are a client that could not be read. `amend` may change components. */
export function print(host, paths, types, least, amend = () => {}) {
  const count = Object.keys(paths).length;
  if (count < least) throw new Error(`only ${count} paths were found`);
  const schemas = types.components();
  amend(schemas);
  const document = { openapi: "3.1.0", servers: [{ url: `https://${host}` }], paths, components: { schemas } };
  process.stdout.write(`${JSON.stringify(document, null, 1)}\n`);
}

/** Runs `make`; what it refuses is said under `name` and ends with 1. */
export function run(name, make) {
  try {
    make();
  } catch (error) {
    console.error(`describe-${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
