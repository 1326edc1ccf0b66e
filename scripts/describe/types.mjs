// Reads TypeScript declarations as JSON Schemas, for the programs beside it that make a description of a typed client.
//
// A client is read with npm `typescript` (5.9.3) and never run. An object type becomes a component once, so that types
// which hold themselves end. What a type leaves open with an index of `any` or `unknown` counts as not described, for else
// nothing could be a fault. Refuses a package that is not there.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

export class Types {
  #names = new Map();
  #waiting = [];
  #open;

  /** `folder` is a `node_modules` folder, `files` are declarations in it; `open` tells the types whose members are any. */
  constructor(folder, files, open = () => false) {
    const modules = resolve(folder ?? ".");
    this.ts = createRequire(join(modules, "noop.js"))("typescript");
    this.#open = open;
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

  /** The type that a file exports under this name; nothing if there is none. */
  exported(source, name) {
    const scope = this.checker.getSymbolAtLocation(source);
    const found = this.checker.getExportsOfModule(scope).find((one) => one.name === name);
    return found && this.checker.getDeclaredTypeOfSymbol(found);
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

  schema(type) {
    if (type.isUnion()) return this.#union(type);
    if (type.isStringLiteral()) return { type: "string", enum: [type.value] };
    if (type.isNumberLiteral()) return { type: "number", enum: [type.value] };
    if (this.#is(type, "StringLike") || this.#is(type, "TemplateLiteral")) return { type: "string" };
    if (this.#is(type, "NumberLike")) return { type: "number" };
    if (this.#is(type, "BooleanLike")) return { type: "boolean" };
    if (this.#is(type, "Null")) return { type: "null" };
    if (this.checker.isArrayType(type) || this.checker.isTupleType(type)) {
      const items = this.checker.getTypeArguments(type).map((one) => this.schema(one));
      return { type: "array", items: items.length === 1 ? items[0] : { anyOf: items } };
    }
    if (this.#is(type, "Any") || this.#is(type, "Unknown")) return {};
    if (type.isIntersection() && type.types.some((part) => this.#is(part, "StringLike"))) return { type: "string" };
    if (type.symbol?.name === "Date") return { type: "string" };
    return { $ref: `#/components/schemas/${this.#name(type)}` };
  }

  /** Every object type that a schema so far refers to, and those that they refer to. */
  components() {
    const found = {};
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      found[this.#names.get(next)] = this.#object(next);
    }
    return found;
  }

  #object(type) {
    const properties = {};
    const required = [];
    for (const symbol of this.checker.getPropertiesOfType(type)) {
      const its = this.checker.getTypeOfSymbol(symbol);
      if (this.#is(its, "Never") || this.#unset(its) || its.getCallSignatures().length > 0) continue;
      properties[symbol.name] = this.schema(its);
      if (!this.#optional(symbol)) required.push(symbol.name);
    }
    const inner = this.checker.getIndexTypeOfType(type, this.ts.IndexKind.String);
    const closed = inner === undefined || this.#is(inner, "Any") || this.#is(inner, "Unknown") || this.#is(inner, "Never");
    const schema = { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
    if (this.#open(type)) return { ...schema, additionalProperties: true };
    return closed ? schema : { ...schema, additionalProperties: this.schema(inner) };
  }

  #union(type) {
    const parts = type.types.filter((part) => !this.#is(part, "Undefined"));
    if (parts.length > 0 && parts.every((part) => part.isStringLiteral())) {
      return { type: "string", enum: parts.map((part) => part.value) };
    }
    const schemas = new Map(parts.map((part) => this.schema(part)).map((one) => [JSON.stringify(one), one]));
    return schemas.size === 1 ? [...schemas.values()][0] : { anyOf: [...schemas.values()] };
  }

  #name(type) {
    if (!this.#names.has(type)) {
      const said = (type.aliasSymbol ?? type.symbol)?.name.replaceAll(/\W/g, "") ?? "";
      this.#names.set(type, `${said || "object"}_${this.#names.size}`);
      this.#waiting.push(type);
    }
    return this.#names.get(type);
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

/** Prints a description of `host`; fewer than `least` paths are a client that could not be read. */
export function print(host, paths, types, least) {
  const count = Object.keys(paths).length;
  if (count < least) throw new Error(`only ${count} paths were found`);
  const document = { openapi: "3.1.0", servers: [{ url: `https://${host}` }], paths, components: { schemas: types.components() } };
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
