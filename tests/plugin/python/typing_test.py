"""Type hints resolve and agree with what is there."""

import ast
import importlib.resources
import inspect
import pydoc
import typing
import unittest

import funcattn
from funcattn import _options


class Typing(unittest.TestCase):
    def test_hints_resolve(self):
        for function in (funcattn.run, funcattn.Operator.run, funcattn.Operator.__init__,
                         funcattn.Operator.contract.fget):
            hints = typing.get_type_hints(function)
            parameters = set(inspect.signature(function).parameters) - {"self"}
            self.assertEqual(set(hints) - {"return"}, parameters, function)
            self.assertIn("return", hints)

    def test_every_option_has_a_type_and_a_setter(self):
        self.assertEqual(list(typing.get_type_hints(funcattn.RunOptions)), list(_options._SETTERS))
        for setter, _ in _options._SETTERS.values():
            self.assertTrue(hasattr(funcattn.vtkNeuralOperator, setter), setter)

    def test_help_tells_what_every_option_means(self):
        text = pydoc.render_doc(funcattn.RunOptions, renderer=pydoc.plaintext)
        for name in typing.get_type_hints(funcattn.RunOptions):
            self.assertRegex(text, rf"\b{name}: [A-Z]", name)

    def test_choices_are_those_that_are_accepted(self):
        hints = typing.get_type_hints(funcattn.RunOptions)
        algorithm = funcattn.vtkNeuralOperator()
        for option in ("nan", "memory"):
            for choice in typing.get_args(hints[option]):
                _options.apply_options(algorithm, {option: choice})
        self.assertEqual(algorithm.GetNanPolicy(), funcattn.vtkNeuralOperator.NAN_DROP)
        self.assertEqual(algorithm.GetActivationMemory(), funcattn.vtkNeuralOperator.RECOMPUTED)

    def test_the_package_says_that_it_is_typed(self):
        self.assertTrue(importlib.resources.files(funcattn).joinpath("py.typed").is_file())

    def test_the_stub_is_the_class(self):
        stub = ast.parse(importlib.resources.files(funcattn).joinpath(
            "vtkFunctionalAttention.pyi").read_text(encoding="utf-8"))
        described = next(node for node in stub.body if isinstance(node, ast.ClassDef))
        names = [item.name if isinstance(item, ast.FunctionDef) else item.target.id
                 for item in described.body]
        everywhere = {"GetClassName", "GetMTime", "GetNumberOfGenerationsFromBase",
                      "GetNumberOfGenerationsFromBaseType", "IsA", "IsTypeOf", "NewInstance",
                      "SafeDownCast"}  # VTK's macros give them to every class.
        actual = {name for name in vars(funcattn.vtkNeuralOperator) if not name.startswith("_")}
        types = {name for name in actual if name.endswith("Type")}  # The enumerations.
        self.assertEqual(set(names), actual - everywhere - types)

    def test_everything_public_is_documented(self):
        for name in funcattn.__all__:
            self.assertTrue(inspect.getdoc(getattr(funcattn, name)), name)


if __name__ == "__main__":
    unittest.main()
