"""Prints the list `providers` of a Python file as JSON, without running that file.

A call `Name(a=1)` becomes {"$": "Name", "a": 1}, a Decimal the text of its number, a date its parts.
"""

import ast
import json
import sys


def value_of(node):
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        if name == 'Decimal' or name.startswith('datetime.'):
            parts = [arg.value for arg in node.args]
            return parts[0] if name == 'Decimal' else parts
        return {'$': name, **{part.arg: value_of(part.value) for part in node.keywords}}
    if isinstance(node, (ast.List, ast.Tuple)):
        return [value_of(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {value_of(key): value_of(value) for key, value in zip(node.keys, node.values)}
    if isinstance(node, ast.Constant):
        return node.value
    raise SystemExit(f'line {node.lineno} is not a literal: {ast.unparse(node)}')


with open(sys.argv[1], encoding='utf-8') as file:
    body = ast.parse(file.read()).body
for statement in body:
    if isinstance(statement, ast.AnnAssign) and ast.unparse(statement.target) == 'providers':
        json.dump(value_of(statement.value), sys.stdout)
