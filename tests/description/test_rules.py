"""The catalogue of rules is complete: what the code can find stands in it, with its severity, and nothing else."""

import ast
import re
from pathlib import Path

from warp_artic.description.diagnostic import Severity
from warp_artic.description.rules import RULES
from warp_artic.usd.not_simulated import SCHEMAS, TYPES

PACKAGE = Path(__file__).parents[2] / "warp_artic"
METHODS = {"error": Severity.ERROR, "warn": Severity.WARNING, "note": Severity.NOTE}
"""Of a report; each takes a rule, a path and a message."""
FEATURES = {feature.rule for table in (SCHEMAS, TYPES) for feature in table.values() if not feature.is_simulated}
"""Rules that a table of features gives to `not_simulated`."""


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def called(call):
    """The last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def aliases(function):
    """Names in a function that stand for methods of a report, and the severities that they give."""
    found = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            methods = [
                one.attr for one in ast.walk(node.value) if isinstance(one, ast.Attribute) and one.attr in METHODS
            ]
            if methods:
                found[node.targets[0].id] = {METHODS[method] for method in methods}
    return found


def severities_of(call, known):
    """The severities with which a call makes findings; empty where it makes none."""
    name = called(call)
    if name == "Diagnostic":
        return {Severity[call.args[0].attr]}
    if isinstance(call.func, ast.Attribute) and name in METHODS and len(call.args) == 3:
        return {METHODS[name]}
    if name == "_error":
        return {Severity.ERROR}
    return known.get(name, set()) if isinstance(call.func, ast.Name) else set()


def words_of(node, function, tree):
    """The words that an expression can be: one that is written, a loop variable, or a parameter of the function."""
    if isinstance(node, ast.Constant):
        return {node.value}
    assert isinstance(node, ast.Name), f"{function.name}: {ast.unparse(node)} is neither a word nor a name"
    parameters = [argument.arg for argument in function.args.args]
    if node.id in parameters:
        place = parameters.index(node.id)
        calls = [(one, inner) for one in functions(tree) for inner in ast.walk(one) if isinstance(inner, ast.Call)]
        given = [(inner.args[place], one) for one, inner in calls if called(inner) == function.name]
        assert given, f"{function.name}: nobody calls it in its file"
        if all(isinstance(one, ast.Attribute) for one, _ in given):
            return FEATURES
        return set().union(*(words_of(one, other, tree) for one, other in given))
    for loop in ast.walk(function):
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Tuple):
            names = [getattr(name, "id", "") for name in loop.target.elts]
            if node.id in names:
                return {row.elts[names.index(node.id)].value for row in loop.iter.elts}
    raise AssertionError(f"{function.name}: where {node.id} comes from is not known")


def emitted():
    """Every rule that the package can find, with the severities it gives to it."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        for function in functions(tree):
            if function.name == "_error" or path.stem == "report":  # these pass on what they are given
                continue
            known = aliases(function)
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                severities = severities_of(call, known)
                if severities:
                    rule = call.args[1 if called(call) == "Diagnostic" else 0]
                    for word in words_of(rule, function, tree):
                        found.setdefault(word, set()).update(severities)
    return found


def test_every_rule_is_listed_with_its_severity():
    """What the code can find is what the catalogue has, no more and no less."""
    assert emitted() == {name: set(rule.severities) for name, rule in RULES.items()}


def test_each_entry_is_complete():
    """A name that can stay, and sentences."""
    for rule in RULES.values():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
        assert all(re.fullmatch(r"\S.*\w[)]?\.", text) for text in (rule.meaning, rule.allowed, rule.fix)), rule
        assert len(rule.meaning.split()) > 3 and len(rule.fix.split()) > 1, rule


def test_names_differ():
    """No entry hides another."""
    sources = [path.read_text() for path in (PACKAGE / "description" / "rules").glob("*.py")]
    assert sum(source.count("\n    Rule(\n") for source in sources) == len(RULES)
